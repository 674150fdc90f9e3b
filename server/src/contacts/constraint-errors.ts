// Maps the constraints on contacts to errors: for a caller, or for a row of an import.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { faultOfRow, type RowFault } from "@postloft/contract/row-faults.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { constraintError, type ConstraintErrors } from "../platform/database/constraint-errors.ts";
import { violatedConstraint } from "../platform/database/database.ts";

const manyKeys = () => faultOfRow("contact.manyKeys", { most: LIMITS.contactKeys.value });

const FAULTS: ReadonlyMap<string, () => RowFault> = new Map([
  ["contacts_project_id_email_key", () => faultOfRow("contact.exists")],
  ["contacts_data_size", () => faultOfRow("contact.dataLong", { most: LIMITS.dataBytes.value })],
  ["contact_fields_number", () => faultOfRow("contact.manyFields", { most: LIMITS.fields.value })],
  ["contacts_data_keys", manyKeys],
  // The message of the database function `bounded_data`.
  ["too many keys", manyKeys],
]);

export const CONTACT_CONSTRAINTS: ConstraintErrors = new Map(
  [...FAULTS].map(([name, faultOf]) => [name, () => errorOf(faultOf())]),
);

function errorOf(fault: RowFault): AppError {
  return fault.code === "contact.exists"
    ? new AppError("CONFLICT", { message: fault.text })
    : invalidField("data", "too_big", fault.text);
}

/** Returns the fault behind a database error about a contact, or null for any other error. */
export function contactFault(error: unknown): RowFault | null {
  const name = violatedConstraint(error, [...FAULTS.keys()]);
  return name === null ? null : (FAULTS.get(name)?.() ?? null);
}

/** Returns the AppError for a database error about a contact, or null for any other error. */
export function contactError(error: unknown): AppError | null {
  return constraintError(error, CONTACT_CONSTRAINTS);
}

export function tooManyKeys(): AppError {
  return errorOf(manyKeys());
}
