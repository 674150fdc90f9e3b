// Limits of an email's subject and body, shared by sends, templates and previews.
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

export const subject = z
  .string()
  .min(1)
  .max(LIMITS.subjectLength.value)
  .refine((text) => !hasControlCharacters(text), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });
