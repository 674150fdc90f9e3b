// Messages with values, as the finished English text and as a constant text that programs can translate.
import { z } from "zod";
import { fillIn } from "./advice.ts";

/** The `{names}` in a text. */
export type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

export const translation = z
  .object({
    key: z.string().describe("The message in English, with `{names}` in place of its values."),
    values: z.record(z.string(), z.union([z.string(), z.number()])).describe("The values by name."),
  })
  .describe("The same message for translation. Missing if the message has no values.");
export type Translation = z.output<typeof translation>;

/** The message of an error and, if it has values, the same message for translation. */
export interface ErrorMessage {
  message: string;
  translation?: Translation | undefined;
}

/**
 * Returns a message with values. Call it with a literal, so that a test finds every text.
 * @param key the text in English, with `{names}` in place of the values
 */
export function withValues<const Key extends string>(
  key: Key,
  values: Readonly<Record<Placeholder<Key>, string | number>>,
): ErrorMessage {
  // As texts, because messages of errors have no thousands separators.
  const texts = Object.entries<string | number>(values).map(([name, value]) => [name, String(value)]);
  return {
    message: fillIn(key, Object.fromEntries(texts) as Record<string, string>),
    translation: { key, values },
  };
}

/** A constant text, or a message with values. */
export type Wording = string | ErrorMessage;

/** Returns a constant text as a message without values, and any other message unchanged. */
export function asMessage(wording: Wording): ErrorMessage {
  return typeof wording === "string" ? { message: wording } : wording;
}
