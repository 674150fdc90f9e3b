// Tracks unsaved edits of a campaign's content per field and stores them in the browser. Pure except for browser storage.
import type { Design } from "@postloft/contract/design.ts";
import { isSame } from "../../ui/typed.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { blocksOf, type Campaign } from "./campaign-queries.ts";
import { serializeKeptDraft } from "./kept-drafts.ts";

const NAMES = ["subject", "previewText", "body", "from", "fromName", "replyTo", "name"] as const;
type Texts = Record<(typeof NAMES)[number], string>;
export type Content = Texts & {
  /** Blocks that generate the body; null if it is written as HTML. */
  design: Design | null;
};
export type Field = keyof Content;

/** An edit of one field. */
interface Typing {
  given: Content[Field];
  /** The stored value the edit is based on. After a save, the value as the server stored it, which may be trimmed. */
  over: Content[Field];
  /** Whether the edit is saved. A newer stored value then replaces it. */
  isTaken: boolean;
}
export type Typed = { readonly [Name in Field]?: Typing };

export const contentOf = (campaign: Campaign): Content => ({
  ...(Object.fromEntries(NAMES.map((name) => [name, campaign[name] ?? ""])) as Texts),
  // The design of blocks contains it.
  ...(blocksOf(campaign) === null ? {} : { previewText: "" }),
  design: blocksOf(campaign),
});

const entriesOf = (typed: Typed) => Object.entries(typed) as Array<[Field, Typing]>;

/** Returns the values to display: edits, except where a saved one has a newer stored value. */
export function shownOf(stored: Content, typed: Typed): Content {
  const shown = entriesOf(typed).filter(
    ([name, { over, isTaken }]) => !isTaken || isSame(stored[name], over),
  );
  return { ...stored, ...Object.fromEntries(shown.map(([name, { given }]) => [name, given])) };
}

/** Returns the edits that differ from the stored values. */
export function unsavedOf(stored: Content, typed: Typed): Partial<Content> {
  const unsaved = entriesOf(typed).filter(
    ([name, { given, isTaken }]) => !isTaken && !isSame(stored[name], given),
  );
  return Object.fromEntries(unsaved.map(([name, { given }]) => [name, given]));
}

/** Returns the edited fields with a stored value that changed elsewhere. */
export function conflictsOf(stored: Content, typed: Typed): Field[] {
  const unsaved = Object.keys(unsavedOf(stored, typed)) as Field[];
  return unsaved.filter((name) => !isSame(stored[name], typed[name]?.over));
}

/** Returns the edits with a new change added. */
export function typedWith(stored: Content, typed: Typed, change: Partial<Content>): Typed {
  const changed = (Object.entries(change) as Array<[Field, Content[Field]]>).map(([name, given]) => {
    const old = typed[name];
    const over = old === undefined || old.isTaken ? stored[name] : old.over;
    return [name, { given, over, isTaken: isSame(given, over) && isSame(over, stored[name]) }];
  });
  return { ...typed, ...(Object.fromEntries(changed) as Typed) };
}

/** Returns the edits after a save. Text typed since the request was sent stays unsaved. */
export function typedAfter(saved: Content, typed: Typed, sent: Partial<Content>): Typed {
  const settled = entriesOf(typed)
    .filter(([name]) => name in sent)
    .map(([name, { given }]) => [name, { given, over: saved[name], isTaken: isSame(given, sent[name]) }]);
  return { ...typed, ...(Object.fromEntries(settled) as Typed) };
}

/** Resolves conflicts in the named fields, by dropping the edits or rebasing them on the stored values. */
export function settledAs(owner: "stored" | "typed", stored: Content, typed: Typed, names: Field[]): Typed {
  const entries = entriesOf(typed).flatMap(([name, typing]): Array<[Field, Typing]> => {
    if (!names.includes(name)) return [[name, typing]];
    return owner === "stored" ? [] : [[name, { ...typing, over: stored[name] }]];
  });
  return Object.fromEntries(entries) as Typed;
}

const isContent = (name: string, value: unknown): boolean =>
  name === "design"
    ? value === null || isBlocks(value as Record<string, unknown>)
    : NAMES.some((known) => known === name) && typeof value === "string";

/** Returns the text stored under a name. If this tab has none, takes over the text of a closed tab. */
function textKept(name: string): string | null {
  const own = sessionStorage.getItem(name);
  if (own !== null) return own;
  const left = localStorage.getItem(name);
  if (left !== null) sessionStorage.setItem(name, left);
  return left;
}

/** Returns the unsaved edits that the browser kept for a campaign. */
export function readKeptDraft(name: string, stored: Content): Typed {
  const kept = JSON.parse(textKept(name) ?? "{}") as Record<string, Partial<Typing> | null>;
  const entries = Object.entries(kept).flatMap(([field, typing]) => {
    const { given, over } = typing ?? {};
    if (!isContent(field, given) || !isContent(field, over) || isSame(given, stored[field as Field]))
      return [];
    return [[field, { given, over, isTaken: false }]];
  });
  return Object.fromEntries(entries) as Typed;
}

/** Stores unsaved edits for this tab and for a later tab that opens after this one is closed. */
export function keep(name: string, typed: Typed): void {
  const unsaved = entriesOf(typed).filter(([, { isTaken }]) => !isTaken);
  const text = serializeKeptDraft(Object.fromEntries(unsaved));
  try {
    if (unsaved.length > 0) for (const store of [sessionStorage, localStorage]) store.setItem(name, text);
    else {
      // Keep the text that another tab has not saved yet.
      if (localStorage.getItem(name) === sessionStorage.getItem(name)) localStorage.removeItem(name);
      sessionStorage.removeItem(name);
    }
  } catch {
    // If the storage is full, nothing is kept here, but the text is still saved to the server.
  }
}
