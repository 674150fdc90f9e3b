// Offsets in a source to lines and columns, as people count them.
// Before it: scan-template.ts. After it: the problems a template is refused with.

/** What is wrong with a template and where; line and column count from 1, columns in UTF-16 units. */
export interface TemplateProblem {
  line: number;
  column: number;
  message: string;
}

/** Turns offsets, asked in rising order, into positions; reads the source only once in all. */
export function createLocator(source: string): (offset: number) => { line: number; column: number } {
  const lineEnd = /\r\n?|\n/g;
  let line = 1;
  let lineStart = 0;
  let next = lineEnd.exec(source);
  return (offset) => {
    while (next !== null && lineEnd.lastIndex <= offset) {
      line += 1;
      lineStart = lineEnd.lastIndex;
      next = lineEnd.exec(source);
    }
    return { line, column: offset - lineStart + 1 };
  };
}
