// What was typed into a campaign over what is stored, field by field, and what the browser keeps of it: pure but for its stores.
import type { Design } from "@postloft/contract/design.ts";
import { isSame } from "../../ui/typed.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { blocksOf, type Campaign } from "./campaign-queries.ts";
import { keptText } from "./kept-drafts.ts";

const NAMES = ["subject", "body", "from", "fromName", "replyTo", "name"] as const;
type Texts = Record<(typeof NAMES)[number], string>;
export type Content = Texts & {
  /** What makes the body; null where it is written as HTML. */
  design: Design | null;
};
export type Field = keyof Content;

/** What was typed into a field. */
interface Typing {
  given: Content[Field];
  /** What was stored when it was typed; once it was taken, what the server made of it: it may store it trimmed. */
  over: Content[Field];
  /** Whether it is stored, so that what others make of it later is shown in its place. */
  isTaken: boolean;
}
export type Typed = { readonly [Name in Field]?: Typing };

export const contentOf = (campaign: Campaign): Content => ({
  ...(Object.fromEntries(NAMES.map((name) => [name, campaign[name] ?? ""])) as Texts),
  design: blocksOf(campaign),
});

const entriesOf = (typed: Typed) => Object.entries(typed) as Array<[Field, Typing]>;

/** What is typed, and what is stored where that says something new. */
export function shownOf(stored: Content, typed: Typed): Content {
  const shown = entriesOf(typed).filter(
    ([name, { over, isTaken }]) => !isTaken || isSame(stored[name], over),
  );
  return { ...stored, ...Object.fromEntries(shown.map(([name, { given }]) => [name, given])) };
}

/** What was typed and is not what is stored. */
export function unsavedOf(stored: Content, typed: Typed): Partial<Content> {
  const unsaved = entriesOf(typed).filter(
    ([name, { given, isTaken }]) => !isTaken && !isSame(stored[name], given),
  );
  return Object.fromEntries(unsaved.map(([name, { given }]) => [name, given]));
}

/** The fields that are typed over something that is not stored any more: somebody else changed them meanwhile. */
export function conflictsOf(stored: Content, typed: Typed): Field[] {
  const unsaved = Object.keys(unsavedOf(stored, typed)) as Field[];
  return unsaved.filter((name) => !isSame(stored[name], typed[name]?.over));
}

/** With what was just typed. */
export function typedWith(stored: Content, typed: Typed, change: Partial<Content>): Typed {
  const changed = (Object.entries(change) as Array<[Field, Content[Field]]>).map(([name, given]) => {
    const old = typed[name];
    const over = old === undefined || old.isTaken ? stored[name] : old.over;
    return [name, { given, over, isTaken: isSame(given, over) && isSame(over, stored[name]) }];
  });
  return { ...typed, ...(Object.fromEntries(changed) as Typed) };
}

/** After it was sent and the server stored it so. What was typed meanwhile stands over that. */
export function typedAfter(saved: Content, typed: Typed, sent: Partial<Content>): Typed {
  const settled = entriesOf(typed)
    .filter(([name]) => name in sent)
    .map(([name, { given }]) => [name, { given, over: saved[name], isTaken: isSame(given, sent[name]) }]);
  return { ...typed, ...(Object.fromEntries(settled) as Typed) };
}

/** Without what was typed into these fields, or with it over what is stored now. */
export function settledAs(whose: "stored" | "typed", stored: Content, typed: Typed, names: Field[]): Typed {
  const entries = entriesOf(typed).flatMap(([name, typing]): Array<[Field, Typing]> => {
    if (!names.includes(name)) return [[name, typing]];
    return whose === "stored" ? [] : [[name, { ...typing, over: stored[name] }]];
  });
  return Object.fromEntries(entries) as Typed;
}

const isContent = (name: string, value: unknown): boolean =>
  name === "design"
    ? value === null || isBlocks(value as Record<string, unknown>)
    : NAMES.some((known) => known === name) && typeof value === "string";

/** What is kept under a name: by this tab, else by one that was closed, from which this one takes it over. */
function textKept(name: string): string | null {
  const own = sessionStorage.getItem(name);
  if (own !== null) return own;
  const left = localStorage.getItem(name);
  if (left !== null) sessionStorage.setItem(name, left);
  return left;
}

/** What was kept of a campaign and is not stored, with what it was typed over. */
export function readKept(name: string, stored: Content): Typed {
  const kept = JSON.parse(textKept(name) ?? "{}") as Record<string, Partial<Typing> | null>;
  const entries = Object.entries(kept).flatMap(([field, typing]) => {
    const { given, over } = typing ?? {};
    if (!isContent(field, given) || !isContent(field, over) || isSame(given, stored[field as Field]))
      return [];
    return [[field, { given, over, isTaken: false }]];
  });
  return Object.fromEntries(entries) as Typed;
}

/** Keeps what is not stored yet, until it is: for this tab, and for whichever comes when it was closed. */
export function keep(name: string, typed: Typed): void {
  const unsaved = entriesOf(typed).filter(([, { isTaken }]) => !isTaken);
  const text = keptText(Object.fromEntries(unsaved));
  try {
    if (unsaved.length > 0) for (const store of [sessionStorage, localStorage]) store.setItem(name, text);
    else {
      // What another tab keeps is not stored yet.
      if (localStorage.getItem(name) === sessionStorage.getItem(name)) localStorage.removeItem(name);
      sessionStorage.removeItem(name);
    }
  } catch {
    // A full store keeps nothing; the text is still saved to the server.
  }
}
