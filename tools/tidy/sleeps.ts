// Finds fixed sleeps in tests. Tests wait for conditions, because a sleep that is long enough on a busy machine is too long on all others.
import { importsOf, lineAt, memberNameOf, visit, type SourceFile } from "./source.ts";
import { isTest, type Finding, type Rule } from "./tree.ts";

/** These test faults of a certain duration. */
const TIMED_PROGRAMS = "e2e/faults/";

/** Number of accepted sleeps per file, with a reason: they test time, or that nothing happens. The numbers may only shrink. */
export const OPEN_SLEEPS: Readonly<Record<string, { count: number; why: string }>> = {
  "e2e/screens.ts": {
    count: 1,
    why: "one request of a page may trigger the next, so nothing may load for a moment",
  },
  "server/src/contacts/export-contacts.test.ts": { count: 2, why: "checks that reading stops" },
  "server/src/deliveries/tracking/tracking.test.ts": {
    count: 4,
    why: "machines are recognized by the seconds between their hits",
  },
  "server/src/emails/sending/sender-lists.test.ts": { count: 2, why: "checks that no email is sent" },
  "server/src/emails/sending/sender-pace.test.ts": { count: 1, why: "simulates a slow server" },
  "server/src/platform/background/background.test.ts": {
    count: 1,
    why: "simulates long work with the test's clock",
  },
};

export const noFixedSleeps = noFixedSleepsBut(OPEN_SLEEPS);

/** Returns the rule with a list of accepted sleeps. Polling in a loop is no fixed sleep. */
export function noFixedSleepsBut(open: typeof OPEN_SLEEPS): Rule {
  return {
    name: "tests wait for conditions, not for a fixed time",
    check: ({ sources }) =>
      sources
        .filter(({ path }) => isTest(path) && !path.startsWith(TIMED_PROGRAMS))
        .flatMap((file): Finding[] => {
          const lines = sleepsOf(file).map((offset) => lineAt(file.text, offset));
          const allowed = open[file.path]?.count ?? 0;
          if (lines.length < allowed) {
            const message = `has ${lines.length} fixed sleeps. Lower its count in OPEN_SLEEPS (tools/tidy/sleeps.ts).`;
            return [{ path: file.path, message }];
          }
          return lines.length === allowed
            ? []
            : lines.map((line) => ({
                path: file.path,
                line,
                message: `sleeps for a fixed time${allowed === 0 ? "" : `, one of ${lines.length}, ${allowed} allowed`}. Wait for a condition: vi.waitFor, an event, or a promise of the fake.`,
              }));
        }),
  };
}

/** Returns offsets of awaited timers outside of loops. */
function sleepsOf(file: SourceFile): number[] {
  const hasTimers = importsOf(file).some(({ specifier }) => specifier === "node:timers/promises");
  const offsets: number[] = [];
  /** The number of open loops in each enclosing function. */
  const loops = [0];
  const enterLoop = (): void => void (loops[loops.length - 1] = (loops.at(-1) ?? 0) + 1);
  const leaveLoop = (): void => void (loops[loops.length - 1] = (loops.at(-1) ?? 0) - 1);
  const enter = (): void => void loops.push(0);
  const leave = (): void => void loops.pop();
  visit(file, {
    ForStatement: enterLoop,
    "ForStatement:exit": leaveLoop,
    ForOfStatement: enterLoop,
    "ForOfStatement:exit": leaveLoop,
    WhileStatement: enterLoop,
    "WhileStatement:exit": leaveLoop,
    DoWhileStatement: enterLoop,
    "DoWhileStatement:exit": leaveLoop,
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    AwaitExpression({ argument, start }) {
      if ((loops.at(-1) ?? 0) > 0) return;
      const text = file.text.slice(argument.start, argument.end);
      const isPromise =
        argument.type === "NewExpression" && /^new Promise\b.*=>\s*(?:\{\s*)?setTimeout\(/s.test(text);
      const isCall =
        argument.type === "CallExpression" &&
        ((argument.callee.type === "Identifier" && hasTimers && argument.callee.name === "delay") ||
          (argument.callee.type === "MemberExpression" &&
            memberNameOf(argument.callee) === "waitForTimeout"));
      if (isPromise || isCall) offsets.push(start);
    },
  });
  return offsets;
}
