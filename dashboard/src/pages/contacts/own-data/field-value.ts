// Converts a value of a contact's data to the text of an input and back. Pure.
import type { ContactField } from "../field-queries.ts";
import { areNumbersKept, isKeptNumber } from "./exact-numbers.ts";

/** The kind of input for a value. */
export type Kind = "text" | "number" | "boolean" | "day" | "instant" | "json";
type FieldType = ContactField["type"];

const KINDS: readonly Kind[] = ["text", "number", "boolean", "day", "instant", "json"];
const KINDS_OF_TYPE: Record<FieldType, readonly Kind[]> = {
  // Lists and objects also have the type "string" in the API.
  string: ["text", "json"],
  number: ["number"],
  boolean: ["boolean"],
  date: ["day", "instant"],
};
/** The API's date formats; any other text is a plain text. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3})?Z)?$/;
const DAY_LENGTH = "2027-01-31".length;
const MINUTE_MS = 60_000;

/** Returns the kinds allowed for a field. @param type undefined if no contact has the field yet */
export function kindsFor(type: FieldType | undefined): readonly Kind[] {
  return type === undefined ? KINDS : KINDS_OF_TYPE[type];
}

/**
 * Returns a value's kind. The value decides, except that the field decides whether a text is a date. @param type undefined while unknown
 */
export function kindOf(value: unknown, type: FieldType | undefined): Kind {
  if (typeof value === "number" || typeof value === "boolean") return typeof value as Kind;
  if (typeof value !== "string") return "json";
  if ((type ?? "date") !== "date" || !isDate(value)) return "text";
  return value.length === DAY_LENGTH ? "day" : "instant";
}

/** Returns whether a text is a valid date, because `Date` turns February 31 into a day in March. */
function isDate(text: string): boolean {
  const instant = DATE.test(text) ? new Date(text) : null;
  return (
    instant !== null &&
    !Number.isNaN(instant.getTime()) &&
    instant.toISOString().startsWith(text.slice(0, DAY_LENGTH))
  );
}

/** Returns the initial text of a value's input. */
export function draftOf(value: unknown, kind: Kind): string {
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind !== "instant") return String(value);
  const instant = new Date(String(value));
  // A `datetime-local` input has no zone, so use the user's.
  const local = new Date(instant.getTime() - instant.getTimezoneOffset() * MINUTE_MS).toISOString();
  return local.slice(0, instant.getTime() % MINUTE_MS === 0 ? "2027-01-31T10:00".length : -1);
}

/** Why the input is invalid. */
export type Problem = "number" | "inexact" | "date" | "json" | "empty";
export type Read = { value: unknown } | { problem: Problem };

/** Parses the input into a JSON value, or returns what is wrong. */
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

/** The API ignores an empty text and removes a value with null. */
function kept(value: unknown): Read {
  return value === "" || value === null ? { problem: "empty" } : { value };
}
