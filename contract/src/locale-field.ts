// The field for a language tag. Apart from locale-tag.ts, so that the dashboard reads tags without the validation library.
import { z } from "zod";
import { issue, jsonSchemas } from "./field.ts";
import { localeTagOf, MAX_TAG_LENGTH } from "./locale-tag.ts";

/** A language tag, as its canonical form. */
export const localeTag = z
  .string()
  .transform((text, context) => {
    const tag = localeTagOf(text);
    if (tag !== null) return tag;
    context.issues.push(issue("Must be a language tag, such as `de` or `pt-BR`.", "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: { type: "string", maxLength: MAX_TAG_LENGTH, examples: ["pt-BR"] },
  });
