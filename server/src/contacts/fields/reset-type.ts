// Resets the type of a custom field, because the type of the first value may not fit later values.
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../../platform/database/database.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import type { FieldType } from "../rules.ts";
import { countTypesOfKey, findField, updateFieldType } from "./queries.ts";
import { readFieldName, writeFieldName } from "./rules.ts";

export interface ResetType {
  field: string;
  type: FieldType;
  contactCount: number;
  /** Number of contacts with a value of this type. */
  ofType: number;
}

/**
 * Sets the field to the most common type of its values. A field without values keeps its type.
 * @throws AppError FIELD_NOT_FOUND, or VALIDATION_ERROR for a standard field.
 */
export async function resetFieldType(tx: Tx, projectId: string, text: string): Promise<ResetType> {
  const name = readFieldName(text);
  if ("standard" in name)
    throw invalidField(
      "field",
      "custom",
      withValues("`{field}` is a standard field with a fixed type.", { field: name.standard }),
    );
  const { key } = name;
  const known = key.includes("\0") ? undefined : await findField(tx, projectId, key);
  if (known === undefined) throw new AppError("FIELD_NOT_FOUND");
  const types = await countTypesOfKey(tx, projectId, key);
  const [most = { type: known.type, count: 0 }] = types;
  await updateFieldType(tx, projectId, { field: key, type: most.type });
  return {
    field: writeFieldName(name),
    type: most.type,
    contactCount: types.reduce((sum, { count }) => sum + count, 0),
    ofType: most.count,
  };
}
