// Defines named places where a crash test makes this process die, throw or wait, to prove that a crash is safe at any moment. A disabled
// failpoint costs one lookup in an empty map.

/** The failpoints of sending, in the order in which a campaign passes them. */
export const FAILPOINT_NAMES = [
  "import.step",
  "event.before_commit",
  "event.after_commit",
  "snapshot.mid",
  "snapshot.before_commit",
  "claim.after",
  "render.after",
  "sending.before_commit",
  "sending.after_commit",
  "dot.before",
  "dot.after",
  "sent.before_commit",
  "sent.after_commit",
  "finish.before",
] as const;

/** The failpoints that workflow executions pass. */
export const WORKFLOW_FAILPOINT_NAMES = [
  "workflow.react",
  "workflow.claimed",
  "workflow.before_commit",
  "workflow.after_commit",
] as const;

/** The failpoints that the removal of a project passes. */
const REMOVAL_FAILPOINT_NAMES = ["removal.step"] as const;
const ALL_NAMES = [...FAILPOINT_NAMES, ...WORKFLOW_FAILPOINT_NAMES, ...REMOVAL_FAILPOINT_NAMES];
export type FailpointName = (typeof ALL_NAMES)[number];

const ACTIONS = ["kill", "throw", "delay"] as const;

export interface Failpoint {
  name: FailpointName;
  action: (typeof ACTIONS)[number];
  /** The number of the pass at which the failpoint triggers. It triggers once. */
  turn: number;
}

export class FailpointError extends Error {
  override name = "FailpointError";
}

/** Longer than two intervals of every periodic loop. */
const DELAY_MS = 5_000;

const armed = new Map<FailpointName, Failpoint & { passed: number }>();

/** Parses `name:action[:turn]`; returns null if it is invalid. */
export function parseFailpoint(text: string): Failpoint | null {
  const [input, does, turn = "1", ...rest] = text.split(":");
  const name = ALL_NAMES.find((one) => one === input);
  const action = ACTIONS.find((one) => one === does);
  if (name === undefined || action === undefined || !/^[1-9]\d{0,8}$/.test(turn) || rest.length > 0)
    return null;
  return { name, action, turn: Number(turn) };
}

/** Replaces the armed failpoints of this process; an empty list disarms all. */
export function armFailpoints(failpoints: readonly Failpoint[]): void {
  armed.clear();
  for (const one of failpoints) armed.set(one.name, { ...one, passed: 0 });
}

/**
 * Passes a named place, which normally does nothing.
 * @throws FailpointError if a test armed it to throw
 */
export async function failpoint(name: FailpointName): Promise<void> {
  const one = armed.get(name);
  if (one === undefined) return;
  one.passed += 1;
  if (one.passed !== one.turn) return;
  if (one.action === "throw") throw new FailpointError(`the failpoint ${name} was reached`);
  // The process does nothing more, neither after SIGKILL nor until the wait ends.
  if (one.action === "kill") process.kill(process.pid, "SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
}
