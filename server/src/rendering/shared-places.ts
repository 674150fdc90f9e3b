// Takes text shared by all emails of a template out of the rendering, so that this text is encoded only once.

import { sharePieces, type PartText, type SharedText } from "../message/part-text.ts";
import { LINK_HELPER } from "./link-slots.ts";
import { bodiesOf, isBlock, isContent, isPath } from "./template-tree.ts";

/** Delimits the number of a removed text. Neither sources nor variables contain it, see `readVariables`. */
const MARK = "\0";
const MARKS = /\0(\d+)\0/;

/** Parses variables from JSON and replaces NUL, which no mail client displays and which is a marker here. */
export function readVariables(json: string): Record<string, unknown> {
  if (!json.includes("\\u0000")) return JSON.parse(json);
  return JSON.parse(
    json.replace(/(\\\\)|\\u0000/g, (_, backslash: string | undefined) => backslash ?? "\uFFFD"),
  );
}

/** The shared texts of one part and their positions. */
export class SharedPlaces {
  private readonly texts: SharedText[] = [];

  /** Returns the text with markers in place of its shared pieces. */
  marked(text: string): string {
    return sharePieces(text).reduce<string>((marked, piece) => marked + this.markOf(piece), "");
  }

  /** Replaces shared text in a tree by markers, except in link URLs because those are parsed while rendering. */
  placeInto(program: hbs.AST.Program): void {
    for (const statement of program.body) {
      if (isContent(statement)) {
        const value = this.marked(statement.value);
        Object.assign(statement, { value, original: value });
      } else if (isBlock(statement) && !(isPath(statement.path) && statement.path.original === LINK_HELPER))
        for (const body of bodiesOf(statement)) this.placeInto(body);
    }
  }

  /** Returns the rendered text in pieces. */
  piecesOf(rendered: string): PartText {
    // Unshared text and numbers of shared texts alternate.
    return rendered.split(MARKS).map((piece, at) => (at % 2 === 0 ? piece : this.textOf(piece)));
  }

  private markOf(piece: string | SharedText): string {
    if (typeof piece === "string") return piece;
    return `${MARK}${this.texts.push(piece) - 1}${MARK}`;
  }

  private textOf(number: string): SharedText {
    const text = this.texts[Number(number)];
    if (text === undefined) throw new Error(`Unknown shared text ${number}.`);
    return text;
  }
}
