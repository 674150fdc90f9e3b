// Checks the steps that a person chose for executions that move to another version.
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { readGraphs } from "./load-executions.ts";
import { countMovable, type WhichMovable } from "./move-queries.ts";
import { targetOf, type Choices } from "./move-rules.ts";

/**
 * Returns the number of executions that can move.
 * @throws AppError VALIDATION_ERROR for chosen steps that the version doesn't have, and for steps with executions that need a choice
 */
export async function requireChoices(
  tx: Tx,
  projectId: string,
  which: WhichMovable,
  choices: Choices,
): Promise<number> {
  const { workflowId, version } = which;
  const groups = await countMovable(tx, projectId, which);
  const versions = [version, ...groups.map((group) => group.version)];
  const graphs = await readGraphs(
    tx,
    projectId,
    versions.map((one) => ({ workflowId, version: one })),
  );
  const to = graphs.get(`${workflowId} ${version}`);
  if (to === undefined) throw new Error(`The workflow ${workflowId} has no version ${version}.`);
  const unknown = Object.entries(choices).filter(
    ([, choice]) => choice !== "stay" && choice !== "exit" && !to.placeOf.has(choice),
  );
  const missing = new Map<string, { name: string; count: number }>();
  for (const { version: of, stepId, count } of groups) {
    const from = graphs.get(`${workflowId} ${of}`);
    if (choices[stepId] !== undefined || from === undefined) continue;
    if (targetOf(from, to, stepId) !== undefined) continue;
    const name = from.steps[from.placeOf.get(stepId) ?? -1]?.name ?? "";
    missing.set(stepId, { name, count: count + (missing.get(stepId)?.count ?? 0) });
  }
  const fields = [
    ...unknown.map(([stepId]) => ({
      field: `steps.${stepId}`,
      code: "custom" as const,
      ...asMessage(
        withValues("Version {version} has no such step. Send the id of one of its steps, `stay` or `exit`.", {
          version,
        }),
      ),
    })),
    ...[...missing].map(([stepId, { name, count }]) => ({
      field: `steps.${stepId}`,
      code: "required" as const,
      ...asMessage(
        withValues(
          "{count} executions are at the step “{name}”, which version {version} doesn't have. Send the id of one of its steps, `stay` or `exit`.",
          { count, name, version },
        ),
      ),
    })),
  ];
  if (fields.length > 0) throw new AppError("VALIDATION_ERROR", { fields });
  return groups.reduce((sum, { count }) => sum + count, 0);
}
