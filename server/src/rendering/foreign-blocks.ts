// Treats mustaches of other email services as text, so that an email with them can be saved and converted later.
import { foreignMustacheAt } from "@postloft/contract/merge-tags/mustache-tags.ts";

export interface OpenBlock {
  start: number;
  /** Nesting levels added by this block: 1, plus 1 for each `{{else if}}` in it. */
  levels: number;
  /** Name of a block that belongs to another service and is text here. */
  foreign?: string;
}

/** Returns the end of a mustache that belongs to another service, otherwise null. */
export function endOfForeign(source: string, blocks: OpenBlock[], open: number): number | null {
  if (source[open - 1] === "\\") return null;
  const innermost = blocks.at(-1)?.foreign;
  const divider = /\{\{\s{0,9}else\s{0,9}\}\}/y;
  divider.lastIndex = open;
  const isDivider = innermost !== undefined && divider.test(source);
  const found = isDivider
    ? { end: divider.lastIndex, role: "value", name: "" }
    : foreignMustacheAt(source, open);
  if (found === null) return null;
  const { end, role, name } = found;
  if (role === "close" && innermost !== name) return null;
  if (role === "open") blocks.push({ start: open, levels: 0, foreign: name });
  else if (role === "close") blocks.pop();
  return end;
}
