// The text of a template that is the same in every mail: taken out of what is rendered, so that it is encoded once.

import { SharedText, sharePieces, type PartText } from "../message/part-text.ts";
import { LINK_HELPER } from "./link-slots.ts";
import { bodiesOf, isBlock, isContent, isPath } from "./template-tree.ts";

/** Stands before and after the number of a text that was taken out. Neither sources nor variables hold it, see `readVariables`. */
const MARK = "\0";
const MARKS = /\0(\d+)\0/;

/** Variables from JSON, fit to be rendered: a NUL is shown by no reader of mail, and here it is a mark. */
export function readVariables(json: string): Record<string, unknown> {
  if (!json.includes("\\u0000")) return JSON.parse(json);
  return JSON.parse(
    json.replace(/(\\\\)|\\u0000/g, (_, backslash: string | undefined) => backslash ?? "\uFFFD"),
  );
}

/** The shared texts of one part, and where they stood. */
export class SharedPlaces {
  private readonly texts: SharedText[] = [];

  /** The text with marks instead of what is shared of it. */
  marked(text: string): string {
    return sharePieces(text).reduce<string>((marked, piece) => marked + this.markOf(piece), "");
  }

  /** Puts marks into a tree, but not into addresses: they are read when they are rendered. */
  placeInto(program: hbs.AST.Program): void {
    for (const statement of program.body) {
      if (isContent(statement)) {
        const value = this.marked(statement.value);
        Object.assign(statement, { value, original: value });
      } else if (isBlock(statement) && !(isPath(statement.path) && statement.path.original === LINK_HELPER))
        for (const body of bodiesOf(statement)) this.placeInto(body);
    }
  }

  /** What was rendered, in pieces. */
  piecesOf(rendered: string): PartText {
    // Own text and numbers of shared texts by turns.
    return rendered.split(MARKS).map((piece, at) => (at % 2 === 0 ? piece : this.textOf(piece)));
  }

  private markOf(piece: string | SharedText): string {
    if (typeof piece === "string") return piece;
    return `${MARK}${this.texts.push(piece) - 1}${MARK}`;
  }

  private textOf(number: string): SharedText {
    const text = this.texts[Number(number)];
    if (text === undefined) throw new Error(`No text is shared under ${number}.`);
    return text;
  }
}
