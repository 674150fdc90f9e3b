// Finds variables in the texts of steps for which no contact and no event has a value.
import { exitOfGoal } from "@postloft/contract/workflows/goal.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Database } from "../platform/database/database.ts";
import { listEventFields } from "../events/event-names.ts";
import { firstUses } from "../templates/lint-variables.ts";
import { mustachesOf } from "../templates/mustaches.ts";
import { listContactVariables } from "../templates/unknown-variables.ts";
import { textsOf, textsOfExit } from "./step-texts.ts";

/** Variables that an execution provides to emails in addition to the contact's data. */
export const EXECUTION_VARIABLES: readonly string[] = ["contact", "event", "workflow", "steps"];
/** All names in the texts of steps that are not contact data. The links of a recipient exist only in emails. */
const STEP_VARIABLES = [...EXECUTION_VARIABLES, "data", "email", "id", "subscribed", "locale"];
const STEP_RESULT = /^steps\.(?:\[([^\]]*)\]|([^./]+))/u;

/** Returns the unknown names of each step that has any, such as `plan` or `steps.ask`. Those of exit conditions and the goal count for the TRIGGER. */
export async function readUnknownVariables(
  database: Database,
  projectId: string,
  { steps, exitConditions = [], goal }: Graph,
  triggerEvent: string | null,
): Promise<Map<string, string[]>> {
  const stepNames = new Set(steps.map(({ name }) => name));
  const known = new Set(STEP_VARIABLES);
  const exits = [...exitConditions, ...exitOfGoal(goal && { ...goal, exits: true })];
  const used = steps.map((step) => {
    const own = step.type === "TRIGGER" ? exits.flatMap(textsOfExit) : textsOf(step);
    const texts = own.map(({ text }) => text);
    const names = texts.flatMap((text) => firstUses([["body", text]]).map(({ name }) => name));
    return { id: step.id, names, missing: texts.flatMap(stepsIn).filter((name) => !stepNames.has(name)) };
  });
  if (used.some(({ names }) => names.some((name) => !known.has(name)))) {
    for (const name of await listContactVariables(database, projectId)) known.add(name);
    for (const name of await listEventKeys(database, projectId, triggerEvent)) known.add(name);
  }
  const unknown = used.map(({ id, names, missing }): [string, string[]] => [
    id,
    [...new Set([...names.filter((name) => !known.has(name)), ...missing.map((name) => `steps.${name}`)])],
  ]);
  return new Map(unknown.filter(([, names]) => names.length > 0));
}

/** Returns the keys in the newest data of the event that starts a workflow, which are variables if the contact has no value. */
export async function listEventKeys(
  database: Database,
  projectId: string,
  triggerEvent: string | null,
): Promise<string[]> {
  if (triggerEvent === null) return [];
  return (await listEventFields(database, projectId, triggerEvent, () => null)).map(({ field }) => field);
}

/** Returns the names of the steps that a text uses results of. */
function stepsIn(text: string): string[] {
  return mustachesOf(text).flatMap(({ words }) =>
    words.flatMap((word) => {
      const [, quoted, plain] = STEP_RESULT.exec(word.text) ?? [];
      return quoted ?? plain ?? [];
    }),
  );
}
