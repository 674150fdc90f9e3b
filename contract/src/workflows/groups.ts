// How workflows are grouped in their list, by folders and tags. Both exist while a workflow has them.
import { z } from "zod";
import { emailTag } from "../email-labels.ts";
import { rule } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { nameText } from "../name-text.ts";

export const workflowFolder = nameText.nullable().describe("The name of its folder; null for none.");

/** Without commas, which separate tags where people write them. */
const workflowTag = emailTag.refine((tag) => !tag.includes(","), rule("Must not contain a comma.", "custom"));

export const workflowTags = z
  .array(workflowTag)
  .max(LIMITS.emailTags.value)
  .describe("Words that group workflows across folders. Repeats are dropped. `[]` for none.");

/** The folders or tags of a project, each with its number of workflows. */
export const groupList = z.array(z.object({ name: z.string(), workflows: z.int() }));
