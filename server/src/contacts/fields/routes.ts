// HTTP routes for contact fields.
import * as contract from "@postloft/contract/contact-fields.ts";
import type { Database } from "../../platform/database/database.ts";
import { ok, route, type Route } from "../../platform/http/route.ts";
import { deleteField } from "./delete-field.ts";
import { resetFieldType } from "./reset-type.ts";
import { getUsage, listFieldNames, listFields, listValues, type FieldUse } from "./fields.ts";

export interface FieldDependencies {
  database: Database;
}

export function contactFieldRoutes({ database, ...use }: FieldDependencies & FieldUse): Route[] {
  return [
    route(contract.listContactFields, async ({ projectId, query }) => {
      const list = query.withCoverage === false ? listFieldNames : listFields;
      const fields = await list(database, projectId);
      return ok({ fields, count: fields.length });
    }),
    route(contract.listFieldValues, async ({ projectId, params, query }) =>
      ok(await listValues(database, projectId, params.field, query)),
    ),
    route(contract.getFieldUsage, async ({ projectId, params }) =>
      ok(await getUsage(database, projectId, params.field, use)),
    ),
    route(contract.resetFieldType, ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await resetFieldType(tx, projectId, params.field))),
    ),
    route(contract.deleteContactField, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok({ deletedFrom: await deleteField(tx, projectId, params.field) })),
    ),
  ];
}
