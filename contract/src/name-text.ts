// The names of templates, campaigns, workflows, steps, projects and keys.
import { z } from "zod";
import { hasControlCharacters } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** The name of something that people create, on one line. */
export const nameText = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.nameLength.value)
  .refine((name) => !hasControlCharacters(name), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });
