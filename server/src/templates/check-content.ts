// Rejects message templates with invalid variables, naming field, line and column. Used on save, preview and send.
import type { FieldError } from "@postloft/contract/errors.ts";
import { faultOfTemplate } from "@postloft/contract/template-faults.ts";
import { AppError } from "../platform/app-error.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import type { ContentProblem, TemplateContent } from "../rendering/renderer.ts";
import { withFooter } from "./with-footer.ts";

/**
 * Checks the parts, and also the parts with their footer if they get one, because the template limits apply to both.
 * @throws AppError VALIDATION_ERROR naming `subject`, `body` or `text`
 */
export async function checkContent(
  renderer: AskedRenderer,
  projectId: string,
  content: TemplateContent,
  getsFooter: boolean,
): Promise<void> {
  refuseProblems(await renderer.check(projectId, content));
  if (getsFooter) refuseProblems(await renderer.check(projectId, { ...withFooter(content), subject: "" }));
}

function refuseProblems(problems: readonly ContentProblem[]): void {
  if (problems.length > 0) throw new AppError("VALIDATION_ERROR", { fields: problems.map(fieldErrorOf) });
}

function fieldErrorOf({ field, line, column, message, fault }: ContentProblem): FieldError {
  // Converted to text so that line numbers get no thousands separators.
  const place = faultOfTemplate("template.place", { line: String(line), column: String(column) });
  return {
    field: field === "html" ? "body" : field,
    code: "custom",
    message: `${place.text} ${message}`,
    messageParts: [place, fault ?? faultOfTemplate("template.other", { said: message })],
  };
}
