// Turns a typed message into the HTML of an email. Pure.

const ESCAPED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  // A body is a template, and typed braces are no variables.
  "{": "&#123;",
  "}": "&#125;",
};

/** Returns a paragraph for each block of lines, with its line breaks. */
export function htmlOfText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .trim()
    .split(/\n{2,}/)
    .map((block) => block.replace(/[&<>{}]/g, (character) => ESCAPED[character] ?? character))
    .map((block) => `<p>${block.replaceAll("\n", "<br>")}</p>`)
    .join("\n");
}
