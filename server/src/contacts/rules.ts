// The data rules of spec §2.2 and the type inference of §2.3: pure, no clock, no database.
import { RESERVED_KEYS } from "@postloft/contract/contact-file/field-names.ts";
import type { CONSENT_SOURCES } from "@postloft/contract/contacts.ts";

export type FieldType = "string" | "number" | "boolean" | "date";

export type ConsentSource = (typeof CONSENT_SOURCES)[number];

/** Source and actor of a change, stored with each subscription change. */
export interface ChangeSource {
  source: ConsentSource;
  /** The id of a user, or `key` for an API key. Null for the contact itself and for mail servers. */
  actor: string | null;
  /** Set for public pages only. */
  ip: string | null;
  /** The email that led to the change, if known. */
  emailId?: string | null;
  /** Whether a call with a public key caused it, also through a workflow. Anyone can make such a call. */
  fromPublicKey?: boolean;
}

/** The effect of one `data` payload on a contact, plus values for this request only. */
export interface DataPatch {
  set: Record<string, unknown>;
  remove: readonly string[];
  /** From `{ value, persistent: false }`. Used for rendering and never stored on the contact. */
  transient: Record<string, unknown>;
}

/** Pattern of date texts, also read by PostgreSQL. */
export const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?Z)?$/;

interface Wrapped {
  value: unknown;
  persistent: boolean;
}

/** Returns `{ value, persistent }` if the object has exactly these two keys, otherwise null. */
function asWrapped(value: unknown): Wrapped | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { value: inner, persistent } = value as Partial<Wrapped>;
  if (typeof persistent !== "boolean" || !("value" in value) || Object.keys(value).length !== 2) return null;
  return { value: inner, persistent };
}

/** Reads a payload. null deletes a key, an empty string is ignored, reserved keys are dropped, and wrappers are opened. */
export function readDataPatch(data: Readonly<Record<string, unknown>> | undefined): DataPatch {
  const set: Record<string, unknown> = {};
  const transient: Record<string, unknown> = {};
  const remove: string[] = [];
  for (const [key, sent] of Object.entries(data ?? {})) {
    if (RESERVED_KEYS.has(key)) continue;
    const wrapped = asWrapped(sent);
    const value = wrapped === null ? sent : wrapped.value;
    if (wrapped?.persistent === false) transient[key] = value;
    else if (value === null || value === undefined) remove.push(key);
    else if (value !== "") set[key] = value;
  }
  return { set, remove, transient };
}

/** Returns the patch with the effect of `first` followed by `second` on stored data. */
export function composePatches(first: DataPatch, second: DataPatch): DataPatch {
  const set = { ...first.set, ...second.set };
  for (const key of second.remove) delete set[key];
  const remove = [...new Set([...first.remove, ...second.remove])].filter((key) => !Object.hasOwn(set, key));
  return { set, remove, transient: { ...first.transient, ...second.transient } };
}

/** Returns the event data of a payload, with wrappers opened and reserved keys removed. Null if no key is left. */
export function readEventData(
  data: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | null {
  const kept = Object.entries(data ?? {}).filter(([key]) => !RESERVED_KEYS.has(key));
  if (kept.length === 0) return null;
  return Object.fromEntries(
    kept.map(([key, sent]) => [key, asWrapped(sent)?.value ?? (asWrapped(sent) === null ? sent : null)]),
  );
}

/** Returns the type a key gets from its first value (spec §2.3). */
export function inferFieldType(value: unknown): FieldType {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return typeof value === "string" && DATE.test(value) ? "date" : "string";
}
