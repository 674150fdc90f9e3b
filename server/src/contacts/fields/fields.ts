// Standard and custom fields of contacts.
import type * as contract from "@postloft/contract/contact-fields.ts";
import { readDate } from "@postloft/contract/filter-dates.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { z } from "zod";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import {
  countContactsByKey,
  countContactsWithKey,
  countContactsWithKeys,
  findField,
  findFieldsAmong,
  listAddresses,
  listFieldRows,
  listInstants,
  listNewestValues,
  listStates,
  listValuesOfKey,
  type FieldRow,
  type NamedRow,
} from "./queries.ts";
import type { FieldType } from "../rules.ts";
import { readFieldName, STANDARD_FIELDS, writeFieldName, type FieldName } from "./rules.ts";

export type FieldView = z.output<typeof contract.contactField>;
export type NamedField = Omit<FieldView, "coverage">;

/** Up to this number of keys, each key is tested. For more, listing all keys of each contact is used, which takes three times as long. */
const TESTED_KEYS = 32;

const standardFields = (): NamedField[] =>
  Object.entries(STANDARD_FIELDS).map(([field, type]) => ({ field, type, isCustom: false }));

function registeredField({ field, type }: FieldRow): NamedField {
  return { field: writeFieldName({ key: field }), type, isCustom: true };
}

/** Returns the keys that are custom fields of the project. Runs no query for an empty list. */
export async function findKnownKeys(
  database: Database,
  projectId: string,
  keys: readonly string[],
): Promise<string[]> {
  return keys.length === 0 ? [] : findFieldsAmong(database, projectId, keys);
}

/** Returns all fields without fill rates. */
export async function listFieldNames(database: Database, projectId: string): Promise<NamedField[]> {
  return [...standardFields(), ...(await listFieldRows(database, projectId)).map(registeredField)];
}

/**
 * Returns standard fields, then custom ones by name. Fill rates are counted, which takes 0.4 s on two cores for a million contacts with
 * eight keys.
 */
export async function listFields(database: Database, projectId: string): Promise<FieldView[]> {
  const rows = await listFieldRows(database, projectId);
  const coverageOf = await readCoverage(
    database,
    projectId,
    rows.map((row) => row.field),
  );
  return [
    ...standardFields().map((field) => ({ ...field, coverage: 1 })),
    ...rows.map((row) => ({ ...registeredField(row), coverage: coverageOf(row.field) })),
  ];
}

async function readCoverage(database: Database, projectId: string, keys: readonly string[]) {
  if (keys.length > TESTED_KEYS) {
    const { total, counts } = await countContactsByKey(database, projectId);
    return (key: string) => (total === 0 ? 0 : (counts.get(key) ?? 0) / total);
  }
  const { total, counts } = await countContactsWithKeys(database, projectId, keys);
  return (key: string) => (total === 0 ? 0 : (counts[keys.indexOf(key)] ?? 0) / total);
}

/** Returns the type of a custom field, or null if no contact has a value. */
export async function findFieldType(
  database: Database,
  projectId: string,
  key: string,
): Promise<FieldType | null> {
  // PostgreSQL rejects this character in text.
  if (key.includes("\0")) return null;
  return (await findField(database, projectId, key))?.type ?? null;
}

/** Contacts that are read to find a date. */
const NEWEST_CONTACTS = 1_000;

/**
 * Returns whether a field has dates: by its type, or in one of the newest contacts. The first value of a field decides its type, and a date
 * with an offset has the type string (spec §2.3).
 */
export async function hasDates(
  database: Database,
  projectId: string,
  { key, type }: { key: string; type: FieldType | null },
): Promise<boolean> {
  if (type === null || type === "date") return type === "date";
  const values = await listNewestValues(database, projectId, key, NEWEST_CONTACTS);
  return values.some((value) => typeof value === "string" && readDate(value) !== null);
}

/** @throws AppError FIELD_NOT_FOUND. */
async function findName(database: Database, projectId: string, text: string): Promise<FieldName> {
  const name = readFieldName(text);
  if ("key" in name && !(await isRegistered(database, projectId, name.key)))
    throw new AppError("FIELD_NOT_FOUND");
  return name;
}

async function isRegistered(database: Database, projectId: string, key: string): Promise<boolean> {
  return (await findFieldType(database, projectId, key)) !== null;
}

/** @throws AppError FIELD_NOT_FOUND. */
export async function listValues(
  database: Database,
  projectId: string,
  text: string,
  {
    search = "",
    limit = LIMITS.fieldValuesDefault.value,
  }: { search?: string | undefined; limit?: number | undefined },
) {
  const name = await findName(database, projectId, text);
  const values = await readValues(database, projectId, name, { search, limit });
  return { field: writeFieldName(name), values, count: values.length, limit };
}

async function readValues(
  database: Database,
  projectId: string,
  name: FieldName,
  page: { search: string; limit: number },
): Promise<unknown[]> {
  if ("key" in name)
    return listValuesOfKey(database, projectId, name.key, {
      ...page,
      maxLength: LIMITS.fieldValueLength.value,
    });
  switch (name.standard) {
    case "email":
      return listAddresses(database, projectId, page);
    case "subscribed":
      return (await listStates(database, projectId))
        .filter((state) => String(state).includes(page.search.toLowerCase()))
        .slice(0, page.limit);
    default:
      return listInstants(database, projectId, name.standard, page);
  }
}

export interface FieldUsage {
  usedInSegments: NamedRow[];
  usedInCampaigns: NamedRow[];
  usedInWorkflows: NamedRow[];
  contactCount: number;
}

/** Names of segments, campaigns and workflows that use a field, provided by later folders through api.ts. */
export interface FieldUse {
  segmentsNamingField: (database: Database, projectId: string, field: string) => Promise<NamedRow[]>;
  campaignsNamingField: (database: Database, projectId: string, field: string) => Promise<NamedRow[]>;
  workflowsNamingField: (database: Database, projectId: string, field: string) => Promise<NamedRow[]>;
}

/**
 * Returns the segments, campaigns and workflows with conditions on the field.
 * @throws AppError FIELD_NOT_FOUND.
 */
export async function getUsage(
  database: Database,
  projectId: string,
  text: string,
  use: FieldUse,
): Promise<FieldUsage> {
  const name = await findName(database, projectId, text);
  const field = writeFieldName(name);
  return {
    usedInSegments: await use.segmentsNamingField(database, projectId, field),
    usedInCampaigns: await use.campaignsNamingField(database, projectId, field),
    usedInWorkflows: await use.workflowsNamingField(database, projectId, field),
    contactCount: await countContactsWithKey(database, projectId, "key" in name ? name.key : null),
  };
}
