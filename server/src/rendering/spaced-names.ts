// Recognizes `{{First Name ?? "x"}}`: a field whose name contains spaces, written without its brackets. Pure.

/** Words of a field's name. Other signs would be part of an expression. */
const SPACED_NAME = /^\p{L}[\p{L}\p{N}_'’-]*(?: +\p{L}[\p{L}\p{N}_'’-]*)+$/u;

/** Returns the correct form of a mustache that names a field with spaces, otherwise null. */
export function spacedNameOf(
  lines: readonly string[],
  { start, end }: hbs.AST.SourceLocation,
): { form: string; fallback: string } | null {
  if (start.line !== end.line) return null;
  const line = lines[start.line - 1] ?? "";
  const words = line.slice(start.column, end.column).replace(/^(?:\{+~?|\()|(?:~?\}+|\))$/g, "");
  const [name = "", ...fallbacks] = words.split("??").map((part) => part.trim());
  if (!SPACED_NAME.test(name)) return null;
  const fallback = fallbacks.length === 0 ? '"x"' : fallbacks.join(" ?? ");
  return { form: `{{[${name}]}}`, fallback: `{{[${name}] ?? ${fallback}}}` };
}
