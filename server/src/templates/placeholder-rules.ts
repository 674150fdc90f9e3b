// Recognizes text that a starting point of the editor brings and that its author should have replaced. Pure.
import { PLACEHOLDER_TEXTS } from "@postloft/contract/placeholder-texts.ts";

const PLACEHOLDERS = new Set(Object.values(PLACEHOLDER_TEXTS).flat());

/** Returns whether a text is a placeholder and nothing else. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.has(text.trim());
}
