// Lists the fields that a CONDITION can use, for completion in editors.
import type { Database } from "../platform/database/database.ts";
import { listEventFields } from "../events/event-names.ts";
import { listFieldNames } from "../contacts/fields/fields.ts";
import { inferFieldType, type FieldType } from "../contacts/rules.ts";

export interface TypedField {
  field: string;
  type: FieldType;
  category: "Contact Fields" | "Custom Data" | "Event Data";
}

/**
 * Returns `contact.email`, `data.<key>` and `event.<key>`. Event keys come from the newest events and have the type of the newest value.
 */
export async function listConditionFields(
  database: Database,
  projectId: string,
  eventName: string | undefined,
): Promise<TypedField[]> {
  const own = (await listFieldNames(database, projectId)).map(({ field, type, isCustom }): TypedField =>
    isCustom
      ? { field, type, category: "Custom Data" }
      : { field: `contact.${field}`, type, category: "Contact Fields" },
  );
  if (eventName === undefined) return own;
  const ofEvent = await listEventFields(database, projectId, eventName, inferFieldType);
  return [
    ...own,
    ...ofEvent.map(({ field, type }): TypedField => ({
      field: `event.${field}`,
      type,
      category: "Event Data",
    })),
  ];
}
