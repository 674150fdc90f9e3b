// Puts values into a text of a language: `{email}` and `{project}`, as plain text or as HTML.
import { escapeHtml } from "../../platform/escape-html.ts";

export type TextValues = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{([a-z]+)\}/g;

export function fillText(text: string, values: TextValues): string {
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) => values[name] ?? placeholder);
}

/** The same as HTML. Values are kept apart from the direction of the text around them: an address in Arabic stays an address. */
export function fillHtml(text: string, values: TextValues): string {
  return escapeHtml(text).replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    values[name] === undefined ? placeholder : `<bdi>${escapeHtml(values[name])}</bdi>`,
  );
}
