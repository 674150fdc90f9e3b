// Offsets in a source to lines and columns, as people count them.

import type { TemplateFault } from "@postloft/contract/template-faults.ts";

/** What is wrong with a template and where; line and column count from 1, columns in UTF-16 units. */
export interface TemplateProblem {
  line: number;
  column: number;
  message: string;
  /** The same by its code, where there is one. */
  fault?: TemplateFault;
}

/** The problem that a fault is at a place. */
export function problemAt(place: { line: number; column: number }, fault: TemplateFault): TemplateProblem {
  return { line: place.line, column: place.column, message: fault.text, fault };
}

const CR = 0x0d;
const LF = 0x0a;

/** Turns offsets, asked in rising order, into positions; reads the source only once in all. */
export function createLocator(source: string): (offset: number) => { line: number; column: number } {
  let at = 0;
  let line = 1;
  let lineStart = 0;
  return (offset) => {
    while (at < offset) {
      const code = source.charCodeAt(at);
      const end = at + (code === CR && source.charCodeAt(at + 1) === LF ? 2 : 1);
      if (end > offset) break;
      at = end;
      if (code === CR || code === LF) {
        line += 1;
        lineStart = end;
      }
    }
    return { line, column: offset - lineStart + 1 };
  };
}
