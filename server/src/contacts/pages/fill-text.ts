// Fills `{email}` and `{project}` into a translated text, as plain text or as HTML.
import { escapeHtml } from "../../platform/escape-html.ts";

export type TextValues = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{([a-z]+)\}/g;

export function fillText(text: string, values: TextValues): string {
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) => values[name] ?? placeholder);
}

/**
 * Returns the filled text as HTML. Values are isolated from the direction of the surrounding text, so that an address in Arabic text stays
 * readable.
 */
export function fillHtml(text: string, values: TextValues): string {
  return escapeHtml(text).replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    values[name] === undefined ? placeholder : `<bdi>${escapeHtml(values[name])}</bdi>`,
  );
}
