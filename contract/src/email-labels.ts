// Tags and metadata with which a caller marks an email.
import { z } from "zod";
import { exceedsBytes, hasControlCharacters, issue, rule } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { withValues } from "./translation.ts";

export const emailTag = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.emailTagLength.value)
  .refine(
    (tag) => !hasControlCharacters(tag),
    rule("Must not contain line breaks or control characters.", "invalid_string"),
  );

export const emailTags = z
  .array(emailTag)
  .max(LIMITS.emailTags.value)
  .describe(
    `Up to ${LIMITS.emailTags.value} tags with up to ${LIMITS.emailTagLength.value} characters each. \`GET /emails?tag=\` finds the emails of one.`,
  );

export const emailMetadata = z
  .record(z.string(), z.string())
  .superRefine((metadata, context) => {
    const most = LIMITS.emailMetadataBytes.value;
    if (exceedsBytes(JSON.stringify(metadata), most))
      context.addIssue(issue(withValues("Must have at most {most} bytes.", { most }), "too_big", metadata));
  })
  .describe(
    "Your own values, all strings. They are returned with the email and in its events, and never shown to the recipient.",
  );
