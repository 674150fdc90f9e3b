// Converts offsets in a source to lines and columns as people count them.

import type { TemplateFault } from "@postloft/contract/template-faults.ts";

/** A problem of a template and its position. Line and column start at 1, and columns count UTF-16 units. */
export interface TemplateProblem {
  line: number;
  column: number;
  message: string;
  /** The machine-readable fault, if the problem has one. */
  fault?: TemplateFault;
}

/** Returns a fault as a problem at a position. */
export function problemAt(place: { line: number; column: number }, fault: TemplateFault): TemplateProblem {
  return { line: place.line, column: place.column, message: fault.text, fault };
}

const CR = 0x0d;
const LF = 0x0a;

/** Returns a function that converts offsets to positions. Offsets must be ascending, so the source is read only once. */
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
