// The edits of a graph that this page made, and the revision of the graph before and after each. Pure.

export interface Edit {
  kind: "add" | "delete" | "edit" | "exits" | "paste";
  /** The name of the step, or an empty text. */
  name: string;
  /** The number of pasted steps. */
  count?: number;
}

export interface EditHistory {
  /** The revision of each state: one more than there are edits, unless both are empty. */
  revisions: readonly number[];
  edits: readonly Edit[];
  /** The index of the current state. */
  at: number;
}

export const NO_EDITS: EditHistory = { revisions: [], edits: [], at: 0 };

export type Direction = "undo" | "redo";

/** An edit that can be undone or redone, with the revisions that the API needs. */
export interface Return {
  edit: Edit;
  revision: number;
  expectedRevision: number;
}

/**
 * Adds an edit, which replaces those that could be redone. Starts again if someone else edited the graph before, and forgets everything if
 * the revisions don't show whether someone else edited it at the same time.
 */
export function withEdit(
  { revisions, edits, at }: EditHistory,
  edit: Edit,
  { before, after }: { before: number; after: number },
): EditHistory {
  if (after !== before + 1) return NO_EDITS;
  const isNext = revisions[at] === before;
  const former = isNext ? revisions.slice(0, at + 1) : [before];
  return {
    revisions: [...former, after],
    edits: [...(isNext ? edits.slice(0, at) : []), edit],
    at: former.length,
  };
}

/** Returns the edit to undo or redo, or null if there is none. */
export function returnOf({ revisions, edits, at }: EditHistory, direction: Direction): Return | null {
  const isUndo = direction === "undo";
  const edit = edits[isUndo ? at - 1 : at];
  const [revision, expectedRevision] = [revisions[isUndo ? at - 1 : at + 1], revisions[at]];
  if (edit === undefined || revision === undefined || expectedRevision === undefined) return null;
  return { edit, revision, expectedRevision };
}

/** Moves to the state that was restored. Its graph has a new revision. */
export function withReturn(history: EditHistory, direction: Direction, revision: number): EditHistory {
  const at = history.at + (direction === "undo" ? -1 : 1);
  return { ...history, at, revisions: history.revisions.with(at, revision) };
}

/** Returns whether someone else edited the graph after the last edit of this page. */
export function isBlocked({ revisions, at }: EditHistory, current: number): boolean {
  return revisions.length > 0 && revisions[at] !== current;
}
