// Generates docs/errors.md: the envelope, the field codes, and every error code with its solution.
import { STATUS_CODES } from "node:http";
import type { z } from "zod";
import { ERRORS, FIELD_CODES, type errorSchema, type ErrorCode } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { code, fenced, GENERATED, linkTo, page, table, wrap } from "./markdown.ts";

export const ERROR_EXAMPLE: z.infer<typeof errorSchema> = {
  success: false,
  message: ERRORS.VALIDATION_ERROR.message,
  error: {
    code: "VALIDATION_ERROR",
    message: ERRORS.VALIDATION_ERROR.message,
    statusCode: ERRORS.VALIDATION_ERROR.status,
    requestId: "0197a9c4-6f0e-7c3a-9d51-2b7e8f4a1c60",
    errors: [
      { field: "attachments.2.filename", message: "Required.", code: "required" },
      {
        field: "body",
        ...withValues("Must have at most {most} bytes.", { most: LIMITS.htmlBytes.value }),
        code: "too_big",
      },
    ],
    suggestion: ERRORS.VALIDATION_ERROR.suggestion,
    docs: "http://localhost:3000/docs/errors#VALIDATION_ERROR",
  },
  timestamp: "2027-01-31T12:00:00.000Z",
};

/** Returns the text of docs/errors.md. */
export function errorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const byStatus = Map.groupBy(codes, (one) => ERRORS[one].status);
  return page([
    "# Errors",
    GENERATED,
    wrap("Whatever goes wrong is answered in one form:"),
    fenced("json", JSON.stringify(ERROR_EXAMPLE, null, 2)),
    wrap(
      "Programs read `error.code`; people read `error.message` and `error.suggestion`. `error.docs` leads to the code on the page " +
        "`/docs/errors` of the installation, which says what stands here. `error.requestId` is what to tell whoever " +
        "runs the installation; the log has it too. `message` at the top is the same text, for older clients.",
    ),
    wrap(
      "A message with values also has `translation`: its text with `{names}`, and the values by name. Look up `key` in a catalog of your " +
        "language and fill in the values. A constant text has no `translation`. Texts may change with each version; codes don't.",
    ),
    "## Fields",
    wrap(
      "`error.errors` is there for a 422 and names every faulty field at once: `field` is the path to it with dots, `body` or `query` " +
        "for the whole. Its codes:",
    ),
    table(
      ["code", "meaning"],
      Object.entries(FIELD_CODES).map(([one, meaning]) => [code(one), meaning]),
    ),
    ...[...byStatus].flatMap(([status, group]) => [
      `## ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(),
      ...group.map(
        (one) => `### ${one}\n\n${wrap(`${ERRORS[one].message}`)}\n${wrap(`→ ${ERRORS[one].suggestion}`)}`,
      ),
    ]),
  ]);
}

/** Returns links to error codes from another page. */
export function errorLinks(codes: readonly ErrorCode[]): string {
  return codes.map((one) => linkTo(one, code(one), "errors.md")).join(", ");
}
