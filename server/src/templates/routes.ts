// HTTP routes for templates.
import { lookUpLocale } from "@postloft/contract/locale-tag.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { previewEmail } from "@postloft/contract/emails.ts";
import * as trials from "@postloft/contract/template-trials.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as contract from "@postloft/contract/templates.ts";
import type { Database } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { deleteTemplate, templateUsage, type TemplateUse } from "./delete-template.ts";
import { withMadeBody } from "./designs.ts";
import { previewContent, type PreviewDependencies } from "./preview.ts";
import { previewMail } from "./preview-mail.ts";
import {
  checkNewTemplate,
  checkTemplateChange,
  createTemplate,
  duplicateTemplate,
  getTemplate,
  listTemplates,
  updateTemplate,
  type TemplateDependencies,
} from "./templates.ts";
import { prepareRestore } from "./restore-version.ts";
import { checkDraft, sendTest, takeTestMail, testedMessage, testSenderOf } from "./test-mail.ts";
import { warnOnSaving } from "./unknown-variables.ts";
import { checkVariant, deleteVariant, getVariant, saveVariant } from "./variants.ts";
import { getVersion, listVersions } from "./versions.ts";

export interface TemplateRouteDependencies extends TemplateDependencies, PreviewDependencies, TemplateUse {
  database: Database;
  rateLimiter: RateLimiter;
}

export function templateRoutes(deps: TemplateRouteDependencies): Route[] {
  return [...recordRoutes(deps), ...variantRoutes(deps), ...versionRoutes(deps), ...trialRoutes(deps)];
}

function recordRoutes(deps: TemplateRouteDependencies): Route[] {
  const { database } = deps;
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
      const { body: made = "", ...written } = withMadeBody(body);
      const template = { ...written, body: made };
      const checked = await checkNewTemplate(deps, projectId, template);
      const warnings = await warnOnSaving(database, projectId, template);
      return commit(async (tx) =>
        created({ ...(await createTemplate(tx, deps, projectId, checked)), warnings }),
      );
    }),
    route(contract.getTemplate, async ({ projectId, params }) =>
      ok(await getTemplate(database, projectId, params.id)),
    ),
    route(contract.updateTemplate, async ({ projectId, params, body, commit }) => {
      const edit = withMadeBody(body);
      const checked = await checkTemplateChange(deps, projectId, edit);
      const warnings = await warnOnSaving(database, projectId, edit);
      return commit(async (tx) =>
        ok({ ...(await updateTemplate(tx, deps, projectId, params.id, checked)), warnings }),
      );
    }),
    route(contract.deleteTemplate, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteTemplate(tx, projectId, params.id, deps);
        return noContent();
      }),
    ),
    route(contract.duplicateTemplate, async ({ projectId, params, commit }) =>
      commit(async (tx) => created(await duplicateTemplate(tx, projectId, params.id))),
    ),
    route(contract.getTemplateUsage, async ({ projectId, params }) =>
      ok(await templateUsage(database, projectId, params.id, deps)),
    ),
  ];
}

function variantRoutes({ database, renderer }: TemplateRouteDependencies): Route[] {
  return [
    route(variants.getTemplateVariant, async ({ projectId, params }) =>
      ok(await getVariant(database, projectId, params)),
    ),
    route(variants.saveTemplateVariant, async ({ projectId, params, body, commit }) => {
      const { body: made = "", ...written } = withMadeBody(body);
      const content = { ...written, body: made };
      const checked = await checkVariant(renderer, projectId, content);
      const warnings = await warnOnSaving(database, projectId, content);
      return commit(async (tx) =>
        ok({ ...(await saveVariant(tx, renderer, projectId, params, checked)), warnings }),
      );
    }),
    route(variants.deleteTemplateVariant, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteVariant(tx, projectId, params);
        return noContent();
      }),
    ),
  ];
}

function versionRoutes(deps: TemplateRouteDependencies): Route[] {
  const { database } = deps;
  return [
    route(trials.listTemplateVersions, async ({ projectId, params }) => {
      const { id } = await getTemplate(database, projectId, params.id);
      return ok({ versions: await listVersions(database, projectId, id) });
    }),
    route(trials.getTemplateVersion, async ({ projectId, params }) =>
      ok(await getVersion(database, projectId, params.id, params.versionId)),
    ),
    route(trials.restoreTemplateVersion, async ({ projectId, params, commit }) => {
      const restore = await prepareRestore(database, deps, projectId, params);
      return commit(async (tx) => ok(await restore(tx)));
    }),
  ];
}

/** Routes for previews and test emails. */
function trialRoutes(deps: TemplateRouteDependencies): Route[] {
  const { domains } = deps;
  return [
    route(trials.testTemplate, async ({ projectId, params, body, commit }) => {
      const checked = await checkDraft(deps.renderer, projectId, body.draft);
      await takeTestMail(deps.rateLimiter, projectId);
      return commit(async (tx) => {
        const template = await getTemplate(tx, projectId, params.id);
        const locale = lookUpLocale(template.locales, body.locale);
        const shown = locale === null ? {} : await getVariant(tx, projectId, { id: template.id, locale });
        const message = testedMessage({ ...template, ...shown }, checked);
        const from = await testSenderOf(tx, projectId, message, body.from);
        return ok({
          success: true,
          email: await sendTest(tx, domains, projectId, { ...message, from }, body),
        });
      });
    }),
    route(trials.previewTemplate, async ({ projectId, body, keyed, commit }) => {
      const response = ok(await previewContent(deps, projectId, body));
      // Rendering needs no transaction; one is needed only to store the response.
      return keyed === null ? response : commit(async () => response);
    }),
    route(previewEmail, async ({ projectId, params }) => ok(await previewMail(deps, projectId, params.id))),
  ];
}
