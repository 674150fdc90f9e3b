// Keeps the transitions of a BRANCH or RANDOM_SPLIT when an edit renames or removes branches. Pure.
import { branchesOf, type Graph, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../platform/app-error.ts";

export interface BranchRenames {
  /** New names by former name, or null for a branch whose transition is deleted. */
  renamedBranches?: Readonly<Record<string, string | null>> | undefined;
}

/** Branches by the key of the config that lists them. */
const LISTS = { BRANCH: "branches", RANDOM_SPLIT: "shares" } as const;

/**
 * Returns the graph after the branches of an edited step were renamed, also in its transitions.
 * @throws AppError VALIDATION_ERROR for a name that doesn't exist, and for a branch that the edit removes although it leads to a step
 */
export function withRenamedBranches(
  graph: Graph,
  { before, after }: { before: GraphStep; after: GraphStep },
  { renamedBranches = {} }: BranchRenames,
): Graph {
  const list = after.type === "BRANCH" || after.type === "RANDOM_SPLIT" ? LISTS[after.type] : null;
  const renamed = new Map(Object.entries(renamedBranches));
  if (list === null) {
    if (renamed.size === 0) return graph;
    throw invalidField(
      "renamedBranches",
      "custom",
      withValues("The branches of a {type} have fixed names. Remove this field.", { type: after.type }),
    );
  }
  const [former, current] = [branchesOf(before), branchesOf(after)];
  for (const [name, newName] of renamed) {
    if (!former.includes(name))
      throw invalidField(
        "renamedBranches",
        "custom",
        withValues('This step has no branch "{name}".', { name }),
      );
    if (newName !== null && !current.includes(newName))
      throw invalidField(
        "renamedBranches",
        "custom",
        withValues('The new config has no branch "{name}".', { name: newName }),
      );
  }
  const newNames = [...renamed.values()].filter((name) => name !== null);
  if (new Set(newNames).size < newNames.length)
    throw invalidField("renamedBranches", "custom", "Two branches can't get the same name.");
  const transitions = graph.transitions.flatMap((one) => {
    if (one.fromStepId !== after.id || one.branch === null) return [one];
    const branch = renamed.has(one.branch) ? renamed.get(one.branch) : one.branch;
    if (branch === null || branch === undefined) return [];
    if (current.includes(branch)) return [{ ...one, branch }];
    throw invalidField(
      `config.${list}`,
      "custom",
      withValues(
        'The branch "{name}" leads to another step. Keep it, or give its new name in `renamedBranches`, or null to delete its transition.',
        { name: one.branch },
      ),
    );
  });
  return { ...graph, transitions };
}
