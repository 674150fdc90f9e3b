// Limits of an email's subject, preview text and body, shared by sends, templates and previews.
import { z } from "zod";
import { exceedsBytes, hasControlCharacters, rule } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { withValues } from "./translation.ts";

/** HTML or plain text; not empty, and limited to the bytes of one rendered email. */
export const bodyText = z
  .string()
  .min(1)
  .refine(
    (text) => !exceedsBytes(text, LIMITS.htmlBytes.value),
    rule(withValues("Must have at most {most} bytes.", { most: LIMITS.htmlBytes.value }), "too_big"),
  );

export const previewText = z
  .string()
  .max(LIMITS.previewTextLength.value)
  .nullable()
  .describe(
    "Text that inboxes show after the subject, in a hidden element of the HTML. Variables are filled in as in the body. null for none. In a design with blocks it is the `preheader`.",
  );
/** The preview text in a response. */
export const shownPreviewText = z
  .string()
  .nullable()
  .describe("Text that inboxes show after the subject; not included in lists.");

export const subject = z
  .string()
  .min(1)
  .max(LIMITS.subjectLength.value)
  .refine((text) => !hasControlCharacters(text), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });
