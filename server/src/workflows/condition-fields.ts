// Which fields a CONDITION can ask about, for completion in editors.
// Before it: routes.ts. After it: contacts/fields/ knows the contacts' own, events/ the newest events of a name.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Database } from "../platform/database.ts";
import { listEvents } from "../events/events.ts";
import { listFieldNames } from "../contacts/fields/fields.ts";
import { inferFieldType, type FieldType } from "../contacts/rules.ts";

export interface TypedField {
  field: string;
  type: FieldType;
  category: "Contact Fields" | "Custom Data" | "Event Data";
}

/** `contact.email`, `data.<key>`, and of an event `event.<key>`: the keys of the newest ones, with the type of the newest value. */
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
  const page = { limit: LIMITS.eventSample.value, before: null };
  const { data: events } = await listEvents(database, projectId, { name: eventName }, page);
  const types = new Map<string, FieldType>();
  for (const { data } of events)
    for (const [key, value] of Object.entries((data ?? {}) as Record<string, unknown>))
      if (value !== null && !types.has(key)) types.set(key, inferFieldType(value));
  const keys = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...own,
    ...keys.map(([key, type]): TypedField => ({ field: `event.${key}`, type, category: "Event Data" })),
  ];
}
