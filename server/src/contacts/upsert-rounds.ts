// Sorts changes of contacts into rounds, each of which names a contact once: pure, no clock, no database.
import type { Via } from "./consent.ts";
import { composePatches, type DataPatch } from "./rules.ts";

export interface ContactChange {
  projectId: string;
  /** Canonical. */
  email: string;
  /** Omitted keeps the state of a contact that exists; that is not the same as false. */
  subscribed?: boolean;
  subscribedIfNew: boolean;
  /** Whether somebody asked for `subscribedIfNew`. Otherwise it is a default, which never ends an opt-out. */
  isAskedIfNew?: boolean;
  /** False: `subscribed: true` is only the state of a contact that is new and has not opted out. So it is in imports. */
  resubscribes?: boolean;
  patch: DataPatch;
  via: Via;
}

/** Changes of one contact that are one change. */
export interface Group {
  /** What the members do together. */
  change: ContactChange;
  members: ContactChange[];
}

/** Each round names a contact once, sorted. A second change goes into the first where it does not flip what that one set. */
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
