// Takes the type of a custom field anew: it was that of the first value, and says nothing of those that came later.
import type { Tx } from "../../platform/database/database.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import type { FieldType } from "../rules.ts";
import { countTypesOfKey, findField, updateFieldType } from "./queries.ts";
import { readFieldName, writeFieldName } from "./rules.ts";

export interface ResetType {
  field: string;
  type: FieldType;
  contactCount: number;
  /** How many of them have a value of the type. */
  ofType: number;
}

/**
 * Gives the field the type that most of its values have; it keeps its own where there are none.
 * @throws Refusal FIELD_NOT_FOUND; VALIDATION_ERROR for a standard field.
 */
export async function resetFieldType(tx: Tx, projectId: string, text: string): Promise<ResetType> {
  const name = readFieldName(text);
  if ("standard" in name)
    throw invalidField("field", "custom", `\`${name.standard}\` is a standard field: its type is fixed.`);
  const { key } = name;
  const known = key.includes("\0") ? undefined : await findField(tx, projectId, key);
  if (known === undefined) throw new Refusal("FIELD_NOT_FOUND");
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
