// Sorts contact changes into rounds with at most one change per contact: pure, no clock, no database.
import type { ChangeSource } from "./consent.ts";
import { composePatches, type DataPatch } from "./rules.ts";

export interface ContactChange {
  projectId: string;
  /** Canonical. */
  email: string;
  /** Omitted keeps the state of an existing contact, unlike false. */
  subscribed?: boolean;
  subscribedIfNew: boolean;
  /** Whether the caller requested `subscribedIfNew`. Otherwise it is a default, which never ends an opt-out. */
  isAskedIfNew?: boolean;
  /** If false, as in imports, `subscribed: true` applies only to new contacts that have not opted out. */
  resubscribes?: boolean;
  patch: DataPatch;
  via: ChangeSource;
}

/** Changes of one contact that are applied as one. */
export interface Group {
  /** The combined change. */
  change: ContactChange;
  members: ContactChange[];
}

/** Returns sorted rounds with one change per contact each. A second change is merged into the first unless it flips the subscription. */
export function intoRounds(changes: readonly ContactChange[]): Group[][] {
  const byProject = new Map<string, Map<string, Group[]>>();
  for (const change of changes) {
    const byEmail = getOrAdd(byProject, change.projectId, () => new Map<string, Group[]>());
    const groups = getOrAdd(byEmail, change.email, () => []);
    const last = groups.at(-1);
    if (
      last !== undefined &&
      (change.subscribed === undefined || change.subscribed === last.change.subscribed)
    ) {
      last.change = { ...last.change, patch: composePatches(last.change.patch, change.patch) };
      last.members.push(change);
    } else groups.push({ change, members: [change] });
  }
  const sorted = sortedValues(byProject).flatMap(sortedValues);
  const depth = sorted.reduce((most, groups) => Math.max(most, groups.length), 0);
  return Array.from({ length: depth }, (_, round) => sorted.flatMap((groups) => groups[round] ?? []));
}

export function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function sortedValues<Value>(map: ReadonlyMap<string, Value>): Value[] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}
