// One value of a contact's data: of what kind it is, and how it is written into an input and read back from it. Pure.
import type { ContactField } from "../field-queries.ts";
import { areNumbersKept, isKeptNumber } from "./exact-numbers.ts";

/** What a value is edited as. */
export type Kind = "text" | "number" | "boolean" | "day" | "instant" | "json";
type FieldType = ContactField["type"];

const KINDS: readonly Kind[] = ["text", "number", "boolean", "day", "instant", "json"];
const KINDS_OF_TYPE: Record<FieldType, readonly Kind[]> = {
  // The API calls lists and objects so, too.
  string: ["text", "json"],
  number: ["number"],
  boolean: ["boolean"],
  date: ["day", "instant"],
};
/** As the API knows dates; anything else is a text to it. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3})?Z)?$/;
const DAY_LENGTH = "2027-01-31".length;
const MINUTE_MS = 60_000;

/** What a field may be given. @param type undefined where nobody has the field yet */
export function kindsFor(type: FieldType | undefined): readonly Kind[] {
  return type === undefined ? KINDS : KINDS_OF_TYPE[type];
}

/** The value that is there decides; of texts that look like dates, the field. @param type undefined while it is not known */
export function kindOf(value: unknown, type: FieldType | undefined): Kind {
  if (typeof value === "number" || typeof value === "boolean") return typeof value as Kind;
  if (typeof value !== "string") return "json";
  if ((type ?? "date") !== "date" || !isDate(value)) return "text";
  return value.length === DAY_LENGTH ? "day" : "instant";
}

/** Also that there is such a day: of the 31st of February `Date` makes one in March. */
function isDate(text: string): boolean {
  const instant = DATE.test(text) ? new Date(text) : null;
  return (
    instant !== null &&
    !Number.isNaN(instant.getTime()) &&
    instant.toISOString().startsWith(text.slice(0, DAY_LENGTH))
  );
}

/** What stands in the input of a value when it is opened. */
export function draftOf(value: unknown, kind: Kind): string {
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind !== "instant") return String(value);
  const instant = new Date(String(value));
  // An input of a date and a time knows no zone: the viewer's is meant.
  const local = new Date(instant.getTime() - instant.getTimezoneOffset() * MINUTE_MS).toISOString();
  return local.slice(0, instant.getTime() % MINUTE_MS === 0 ? "2027-01-31T10:00".length : -1);
}

/** Why what was typed is no value. */
export type Problem = "number" | "inexact" | "date" | "json" | "empty";
export type Read = { value: unknown } | { problem: Problem };

/** What was typed, as JSON has it; or what is wrong with it. */
export function readDraft(draft: string, kind: Kind): Read {
  switch (kind) {
    case "number":
      if (draft === "" || !Number.isFinite(Number(draft))) return { problem: "number" };
      return isKeptNumber(draft) ? { value: Number(draft) } : { problem: "inexact" };
    case "boolean":
      return { value: draft === "true" };
    case "day":
      return readDate(draft);
    case "instant": {
      const instant = new Date(draft);
      return readDate(Number.isNaN(instant.getTime()) ? "" : instant.toISOString());
    }
    case "json":
      return readJson(draft);
    case "text":
      return kept(draft);
  }
}

function readDate(text: string): Read {
  return isDate(text) ? { value: text } : { problem: "date" };
}

function readJson(text: string): Read {
  try {
    const value: unknown = JSON.parse(text);
    return areNumbersKept(text) ? kept(value) : { problem: "inexact" };
  } catch {
    return { problem: "json" };
  }
}

/** The API takes an empty text for nothing and null for the end of a value. */
function kept(value: unknown): Read {
  return value === "" || value === null ? { problem: "empty" } : { value };
}
