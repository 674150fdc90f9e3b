// Rejects message templates with invalid variables, naming field, line and column. Used on save, preview and send.
import type { FieldError } from "@postloft/contract/errors.ts";
import { faultOfTemplate } from "@postloft/contract/template-faults.ts";
import { AppError } from "../platform/app-error.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import type { ContentProblem, TemplateContent } from "../rendering/renderer.ts";
import { sentParts } from "./sent-parts.ts";

/**
 * Checks the parts, and also the parts with their preview text and footer, because the template limits apply to both.
 * @param prefix of the fields in errors, for content inside of another object
 * @throws AppError VALIDATION_ERROR naming `subject`, `previewText`, `body` or `text`
 */
export async function checkContent(
  renderer: AskedRenderer,
  projectId: string,
  { previewText = null, ...content }: CheckedContent,
  getsFooter: boolean,
  prefix = "",
): Promise<void> {
  const ofPreviewText =
    previewText === null
      ? []
      : await renderer.check(projectId, { subject: previewText, html: "", text: null });
  refuseProblems(prefix, [
    ...(await renderer.check(projectId, content)),
    ...ofPreviewText.map((problem) => ({ ...problem, field: "previewText" as const })),
  ]);
  if (!getsFooter && previewText === null) return;
  const { html: body, text } = content;
  const sent = sentParts({ type: getsFooter ? "MARKETING" : null, body, previewText, text });
  refuseProblems(prefix, await renderer.check(projectId, { ...sent, subject: "" }));
}

export interface CheckedContent extends TemplateContent {
  previewText?: string | null;
}

/** A problem of a part, or of the preview text. */
type FieldProblem = Omit<ContentProblem, "field"> & { field: ContentProblem["field"] | "previewText" };

function refuseProblems(prefix: string, problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return;
  const fields = problems.map(fieldErrorOf).map((error) => ({ ...error, field: `${prefix}${error.field}` }));
  throw new AppError("VALIDATION_ERROR", { fields });
}

function fieldErrorOf({ field, line, column, message, fault }: FieldProblem): FieldError {
  // Converted to text so that line numbers get no thousands separators.
  const place = faultOfTemplate("template.place", { line: String(line), column: String(column) });
  return {
    field: field === "html" ? "body" : field,
    code: "custom",
    message: `${place.text} ${message}`,
    messageParts: [place, fault ?? faultOfTemplate("template.other", { said: message })],
  };
}
