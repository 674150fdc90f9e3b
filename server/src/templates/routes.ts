// HTTP for templates: endpoint → verb → answer.
import { LIMITS } from "@postloft/contract/limits.ts";
import * as contract from "@postloft/contract/templates.ts";
import type { Database } from "../platform/database.ts";
import { created, noContent, ok, route, type Route } from "../platform/http-route.ts";
import { readPage } from "../platform/page.ts";
import { previewContent, type PreviewParts } from "./preview.ts";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  getTemplate,
  listTemplates,
  templateUsage,
  updateTemplate,
  type TemplateParts,
  type TemplateUse,
} from "./templates.ts";
import { warnOfUnknownVariables } from "./unknown-variables.ts";

export function templateRoutes(
  parts: TemplateParts & PreviewParts & TemplateUse & { database: Database },
): Route[] {
  const { database } = parts;
  return [
    route(contract.listTemplates, async ({ projectId, query }) => {
      const { limit, cursor, ...filter } = query;
      const isPaged = limit !== undefined || cursor !== undefined;
      const request = isPaged
        ? readPage("templates", query)
        : { limit: LIMITS.templatesListed.value, before: null };
      return ok(await listTemplates(database, projectId, filter, request));
    }),
    route(contract.createTemplate, async ({ projectId, body, commit }) => {
      const insert = await createTemplate(parts, projectId, body);
      const warnings = await warnOfUnknownVariables(database, projectId, body);
      return commit(async (tx) => created({ ...(await insert(tx)), warnings }));
    }),
    route(contract.getTemplate, async ({ projectId, params }) =>
      ok(await getTemplate(database, projectId, params.id)),
    ),
    route(contract.updateTemplate, async ({ projectId, params, body, commit }) => {
      const change = await updateTemplate(parts, projectId, params.id, body);
      const warnings = await warnOfUnknownVariables(database, projectId, body);
      return commit(async (tx) => ok({ ...(await change(tx)), warnings }));
    }),
    route(contract.deleteTemplate, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteTemplate(tx, projectId, params.id, parts);
        return noContent();
      }),
    ),
    route(contract.duplicateTemplate, async ({ projectId, params, commit }) =>
      commit(async (tx) => created(await duplicateTemplate(tx, projectId, params.id))),
    ),
    route(contract.getTemplateUsage, async ({ projectId, params }) =>
      ok(await templateUsage(database, projectId, params.id, parts)),
    ),
    route(contract.previewTemplate, async ({ projectId, body, receipt, commit }) => {
      const answer = ok(await previewContent(parts, projectId, body));
      // Rendering needs no transaction, and none is needed but to store the receipt.
      return receipt === null ? answer : commit(async () => answer);
    }),
  ];
}
