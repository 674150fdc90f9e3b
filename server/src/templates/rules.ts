// Rules for changing, copying and deleting templates. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues, type ErrorMessage } from "@postloft/contract/translation.ts";
import type { TemplateFields, WholeTemplateRow } from "./queries.ts";

const COPY_SUFFIX = " (copy)";

/** Returns the name of a copy, shortening the original name if both would be too long. */
export function copyNameOf(name: string): string {
  const room = LIMITS.nameLength.value - COPY_SUFFIX.length;
  const kept =
    name.length > room
      ? name
          .slice(0, room)
          .toWellFormed()
          .replace(/\ufffd$/, "")
      : name;
  return kept.trimEnd() + COPY_SUFFIX;
}

/** Uses that prevent deleting a template. Emails do not, because they have their own message template. */
export interface TemplateReferences {
  campaigns: Array<{ id: string; name: string }>;
  workflowSteps: Array<{ workflowId: string; workflowName: string; stepId: string }>;
  /** Active executions that will still send it, by workflow version and step. They may be in an earlier version than the current graph. */
  executions: Array<{
    workflowId: string;
    workflowName: string;
    version: number;
    stepId: string;
    count: number;
  }>;
}

/** Returns the reason why a template cannot be deleted, or null. */
export function usageReasonOf({
  campaigns,
  workflowSteps,
  executions,
}: TemplateReferences): ErrorMessage | null {
  const names = [
    ...campaigns.map(({ name }) => `the campaign "${name}"`),
    ...workflowSteps.map(({ workflowName }) => `the workflow "${workflowName}"`),
  ];
  const [first] = names;
  const others = new Set(names).size - 1;
  if (first !== undefined)
    return { message: `The template is used by ${first}${others === 0 ? "" : ` and ${others} more`}.` };
  const [waiting] = executions;
  return waiting === undefined
    ? null
    : withValues(
        'The workflow "{workflow}" no longer uses this template, but {count} of its running executions will still send it. Wait until they end, or cancel them.',
        { workflow: waiting.workflowName, count: waiting.count },
      );
}

/** Returns whether a change gives a template another subject, preview text or body. */
export function contentDiffers(
  row: Pick<WholeTemplateRow, "subject" | "previewText" | "body">,
  changes: Partial<Pick<TemplateFields, "subject" | "previewText" | "body">>,
): boolean {
  const { subject, previewText, body } = { ...row, ...changes };
  return subject !== row.subject || previewText !== row.previewText || body !== row.body;
}

/** Returns null for a text that shows nothing. */
export function blankAsNull(text: string | null): string | null {
  return text?.trim() === "" ? null : text;
}
