// Compares two graphs by the ids of their steps and transitions, which stay the same across versions. Pure.
import { isDeepStrictEqual } from "node:util";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";

export interface Differences<Item> {
  added: Item[];
  removed: Item[];
  changed: Array<{ id: string; fields: string[]; before: Item; after: Item }>;
}

/** Timestamps do not count as a change. */
const IGNORED: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);

/** Returns the differences in the order of the lists. */
export function compareItems<Item extends { id: string }>(
  before: readonly Item[],
  after: readonly Item[],
): Differences<Item> {
  const [old, young] = [byId(before), byId(after)];
  return {
    added: after.filter(({ id }) => !old.has(id)),
    removed: before.filter(({ id }) => !young.has(id)),
    changed: before.flatMap((item) => {
      const other = young.get(item.id);
      const fields = other === undefined ? [] : changedFields(item, other);
      return other === undefined || fields.length === 0
        ? []
        : [{ id: item.id, fields, before: item, after: other }];
    }),
  };
}

function byId<Item extends { id: string }>(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function changedFields(before: object, after: object): string[] {
  const values: Readonly<Record<string, unknown>> = { ...after };
  return Object.entries(before)
    .filter(([name, value]) => !IGNORED.has(name) && !isDeepStrictEqual(value, values[name]))
    .map(([name]) => name);
}

/** Returns a step without what only its authors see. */
export function runnablePartOf({
  position: _position,
  note: _note,
  updatedAt: _updatedAt,
  ...step
}: GraphStep) {
  return step;
}
