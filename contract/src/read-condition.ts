// Checks one condition of a filter: field, operator, value, unit. Every fault is reported with its exact path.
import type { FieldCode } from "./errors.ts";
import { isImpossibleDate, readDate } from "./filter-dates.ts";
import {
  canonicalField,
  FILTER_OPERATORS,
  FILTER_UNITS,
  readField,
  type FilterOperator,
  type FilterUnit,
  type ValueForm,
} from "./filter-fields.ts";
import type { FilterCondition, FilterScalar } from "./filter-form.ts";
import { LIMITS } from "./limits/limits.ts";
import { withValues, type ErrorMessage, type Wording } from "./translation.ts";

export type Path = ReadonlyArray<string | number>;
type Raw = Readonly<Record<string, unknown>>;

/** The state while a filter is read. */
export interface Reading {
  fail(path: Path, code: FieldCode, wording: Wording, input: unknown): null;
  /** Counts conditions and stops reading if there are too many. */
  count(conditions: number): void;
  /** Whether a value may be a text with variables, which is checked once they are filled in. */
  acceptsVariables: boolean;
}

/** Returns whether a value of a condition is a text with variables. */
export function isVariable(value: unknown): value is string {
  return typeof value === "string" && value.includes("{{");
}

export function isObject(input: unknown): input is Raw {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

/** Reads one condition and returns it in canonical spelling, without values its operator does not use. */
export function readCondition(input: Raw, path: Path, reading: Reading): FilterCondition | null {
  reading.count(1);
  const field = readText(input["field"], [...path, "field"], LIMITS.filterFieldLength.value, reading);
  if (field === null) return null;
  const read = readField(field);
  if (typeof read === "string") return reading.fail([...path, "field"], "invalid_enum_value", read, field);
  const forms: Partial<Record<FilterOperator, ValueForm>> = FILTER_OPERATORS[read.kind];
  const { operator } = input;
  if (operator === undefined || operator === null)
    return reading.fail([...path, "operator"], "required", "Required.", operator);
  const form =
    typeof operator === "string" && Object.hasOwn(forms, operator)
      ? forms[operator as FilterOperator]
      : undefined;
  if (form === undefined)
    return reading.fail(
      [...path, "operator"],
      "invalid_enum_value",
      withValues("{field} takes {operators}.", {
        field: canonicalField(field),
        operators: Object.keys(forms).join(", "),
      }),
      operator,
    );
  const condition = { field: canonicalField(field), operator: operator as FilterOperator };
  if (form === "none") return condition;
  const rest =
    form === "span"
      ? readSpan(input, path, reading)
      : form === "count"
        ? readCount(input, path, reading)
        : form === "daysAhead"
          ? readDaysAhead(input, path, reading)
          : readValue(input, form, path, reading);
  return rest === null ? null : { ...condition, ...rest };
}

function readText(input: unknown, path: Path, maximum: number, reading: Reading): string | null {
  if (input === undefined || input === null) return reading.fail(path, "required", "Required.", input);
  if (typeof input !== "string") return reading.fail(path, "invalid_type", "Must be a text.", input);
  const problem = textProblem(input, maximum);
  return problem === null ? input : reading.fail(path, problem.code, problem, input);
}

function textProblem(text: string, maximum: number): (ErrorMessage & { code: FieldCode }) | null {
  if (text === "") return { code: "too_small", message: "Must not be empty." };
  if (text.length > maximum)
    return { code: "too_big", ...withValues("Must have at most {most} characters.", { most: maximum }) };
  if (text.includes("\u0000") || !text.isWellFormed())
    return { code: "invalid_string", message: "Must be valid Unicode without NUL." };
  return null;
}

const MANY_FORMS = { texts: "text", scalars: "scalar" } as const;
type OneForm = "text" | "scalar" | "boolean" | "date" | "order" | "day";

function readValue(
  input: Raw,
  form: Exclude<ValueForm, "none" | "span" | "count" | "daysAhead">,
  path: Path,
  reading: Reading,
): { value: FilterScalar | FilterScalar[] } | null {
  const { value } = input;
  const place = [...path, "value"];
  if (value === undefined || value === null) return reading.fail(place, "required", "Required.", value);
  const isList = form === "texts" || form === "scalars";
  if (isList && reading.acceptsVariables && isVariable(value)) {
    const list = readText(value, place, LIMITS.filterTextLength.value, reading);
    return list === null ? null : { value: list };
  }
  if (!isList) {
    const one = readOne(value, form, place, reading);
    return one === null ? null : { value: one };
  }
  if (!Array.isArray(value)) return reading.fail(place, "invalid_type", "Must be a list.", value);
  const maximum = LIMITS.filterValues.value;
  if (value.length === 0) return reading.fail(place, "too_small", "Must contain at least one value.", value);
  if (value.length > maximum)
    return reading.fail(
      place,
      "too_big",
      withValues("Must contain at most {most} values.", { most: maximum }),
      value,
    );
  const many = value.map((one: unknown, at) => readOne(one, MANY_FORMS[form], [...place, at], reading));
  const sound = many.filter((one) => one !== null);
  return sound.length === many.length ? { value: sound } : null;
}

const WANTED: Readonly<Record<OneForm, string>> = {
  text: "Must be a text.",
  scalar: "Must be a text, a number, true or false.",
  boolean: "Must be true or false.",
  date: "Must be a date: YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS with Z or an offset.",
  day: "Must be a day: YYYY-MM-DD.",
  order: "Must be a number or a date (YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS with Z or an offset).",
};

function readOne(input: unknown, form: OneForm, path: Path, reading: Reading): FilterScalar | null {
  if (reading.acceptsVariables && isVariable(input))
    return readText(input, path, LIMITS.filterTextLength.value, reading);
  const isTaken =
    form === "boolean"
      ? typeof input === "boolean"
      : typeof input === "string" ||
        (form === "order" && typeof input === "number") ||
        (form === "scalar" && (typeof input === "number" || typeof input === "boolean"));
  if (!isTaken) return reading.fail(path, "invalid_type", WANTED[form], input);
  if (typeof input === "number" && !Number.isFinite(input))
    return reading.fail(path, "too_big", "The number is too large.", input);
  if (typeof input !== "string") return input as FilterScalar;
  const text = readText(input, path, LIMITS.filterTextLength.value, reading);
  if (text === null) return null;
  if (form !== "text" && isImpossibleDate(text))
    return reading.fail(path, "invalid_date", "The date does not exist.", input);
  return isMeant(text, form) ? text : reading.fail(path, "invalid_date", WANTED[form], input);
}

/** Returns whether a text is a date if the form requires one. */
function isMeant(text: string, form: OneForm): boolean {
  if (form !== "date" && form !== "order" && form !== "day") return true;
  const date = readDate(text);
  return date !== null && (form !== "day" || !date.hasTime);
}

const PER_YEAR: Readonly<Record<FilterUnit, number>> = {
  minutes: 365 * 24 * 60,
  hours: 365 * 24,
  days: 365,
  weeks: 52,
  months: 12,
};

function readSpan(input: Raw, path: Path, reading: Reading): { value: number; unit: FilterUnit } | null {
  const unit = readUnit(input["unit"], [...path, "unit"], reading);
  const value = readAmount(input["value"], unit, [...path, "value"], reading);
  return unit === null || value === null ? null : { value, unit };
}

function readUnit(input: unknown, path: Path, reading: Reading): FilterUnit | null {
  const unit = FILTER_UNITS.find((one) => one === input);
  if (unit !== undefined) return unit;
  return input === undefined || input === null
    ? reading.fail(
        path,
        "required",
        withValues("Required: {units}.", { units: FILTER_UNITS.join(", ") }),
        input,
      )
    : reading.fail(
        path,
        "invalid_enum_value",
        withValues("Must be one of {units}.", { units: FILTER_UNITS.join(", ") }),
        input,
      );
}

/** Reads a number of units. An invalid unit sets no maximum. */
function readAmount(input: unknown, unit: FilterUnit | null, path: Path, reading: Reading): number | null {
  const most = unit === null ? Number.MAX_SAFE_INTEGER : LIMITS.filterYears.value * PER_YEAR[unit];
  return readInteger(input, most, path, reading);
}

function readInteger(input: unknown, maximum: number, path: Path, reading: Reading): number | null {
  if (input === undefined || input === null) return reading.fail(path, "required", "Required.", input);
  if (typeof input !== "number" || !Number.isInteger(input))
    return reading.fail(path, "invalid_type", "Must be a whole number.", input);
  if (input < 1) return reading.fail(path, "too_small", "Must be at least 1.", input);
  if (input > maximum)
    return reading.fail(path, "too_big", withValues("Must be at most {most}.", { most: maximum }), input);
  return input;
}

/** Reads `triggered`: a minimum number of times, ever or within a window. */
function readCount(
  input: Raw,
  path: Path,
  reading: Reading,
): { value?: number; unit?: FilterUnit; window?: number } | null {
  const has = (name: string) => input[name] !== undefined && input[name] !== null;
  const value = has("value")
    ? readInteger(input["value"], LIMITS.filterEventCount.value, [...path, "value"], reading)
    : undefined;
  if (!has("unit") && !has("window")) return value === null ? null : value === undefined ? {} : { value };
  const unit = readUnit(input["unit"], [...path, "unit"], reading);
  const window = readAmount(input["window"], unit, [...path, "window"], reading);
  if (value === null || unit === null || window === null) return null;
  return { ...(value === undefined ? {} : { value }), unit, window };
}

/** Reads `anniversary`: a number of days ahead, or nothing for today. */
function readDaysAhead(input: Raw, path: Path, reading: Reading): { value?: number } | null {
  const { value: given, unit } = input;
  const isOfDays = unit === undefined || unit === null || unit === "days";
  if (!isOfDays) reading.fail([...path, "unit"], "invalid_enum_value", "Must be days, or left out.", unit);
  const most = LIMITS.filterAnniversaryDays.value;
  const isToday = given === undefined || given === null;
  const value = isToday ? 0 : readInteger(given, most, [...path, "value"], reading);
  if (!isOfDays || value === null) return null;
  return isToday ? {} : { value };
}
