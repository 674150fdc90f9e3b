// Adds the preview text of an email to its HTML, as a hidden element at the start of the body. The text part doesn't show it.
import { previewTextElement } from "@postloft/contract/design-html.ts";
import { Parser } from "htmlparser2";
import { depthChange, scanTemplate } from "./scan-template.ts";

/** Returns the HTML with the preview text. Without one the HTML stays unchanged. */
export function withPreviewText(html: string, previewText: string | null): string {
  if (previewText === null || previewText.trim() === "") return html;
  const at = startOfBody(html);
  return `${html.slice(0, at)}${previewTextElement(withEscapedValues(previewText))}${html.slice(at)}`;
}

/** Returns the text with `{{{name}}}` and `{{&name}}` as `{{name}}`, because HTML in a value would end the hidden element. */
function withEscapedValues(text: string): string {
  return text
    .replace(/(?<!\{)\{\{(~?)\{([^{}]*)\}(~?)\}\}/g, "{{$1$2$3}}")
    .replace(/(?<!\{)\{\{(~?)\s*&/g, "{{$1");
}

/** Returns the position where the body starts, after its tag. Inside of a block it is the position after that block. */
function startOfBody(html: string): number {
  const { pieces } = scanTemplate(html);
  // An expression such as {{#if a > b}} must not end a tag.
  const tags = pieces.map(({ kind, start, end }) =>
    kind === "content" ? html.slice(start, end) : "_".repeat(end - start),
  );
  const at = endOfHead(tags.join(""));
  let depth = 0;
  for (const { kind, start, end } of pieces) {
    const isReached = start >= at || (kind === "content" && end >= at);
    if (depth === 0 && isReached) return Math.max(at, start);
    if (kind === "control") depth += depthChange(html.slice(start, end));
  }
  return at;
}

/** Returns the end of the `<body>` tag, else of the head, of the `<html>` tag or of the doctype, or 0 for a fragment. */
function endOfHead(html: string): number {
  let at = 0;
  let hasTag = false;
  let hasBody = false;
  const parser = new Parser({
    onprocessinginstruction: () => mark(!hasTag),
    onopentag: (name) => {
      mark(name === "body" || name === "html");
      hasTag = true;
      hasBody ||= name === "body";
    },
    onclosetag: (name, isImplied) => mark(name === "head" && !isImplied),
  });
  function mark(isStart: boolean): void {
    if (isStart && !hasBody) at = parser.endIndex + 1;
  }
  parser.end(html);
  return at;
}
