// HTTP routes for campaigns.
import * as actions from "@postloft/contract/campaign-actions.ts";
import * as report from "@postloft/contract/campaign-report.ts";
import * as contract from "@postloft/contract/campaigns.ts";
import type { z } from "zod";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Call, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { listRecipients } from "../emails/outbox/campaign-emails.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import { csv } from "../contacts/csv-response.ts";
import { checkDraft, takeTestMail } from "../templates/test-mail.ts";
import { withMadeBody } from "../templates/designs.ts";
import { warnOnSaving } from "../templates/unknown-variables.ts";
import { countAudience } from "./audience.ts";
import { countStatuses, getActivity, listPrevious } from "./campaign-results.ts";
import type { Linter } from "../templates/linter.ts";
import {
  checkNewCampaign,
  checkReplacement,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  getCampaign,
  getCampaignRow,
  getStats,
  listCampaigns,
  listProviders,
  replaceCampaign,
  type CampaignInput,
  type CampaignDependencies,
} from "./campaigns.ts";
import type { CampaignView } from "./present-campaign.ts";
import { checkCampaign } from "./check-campaign.ts";
import { resolveRecipients } from "./resolve-recipients.ts";
import {
  cancelCampaign,
  checkStart,
  pauseCampaign,
  releaseCampaign,
  resumeCampaign,
  retryFailed,
  sendCampaign,
} from "./send-campaign.ts";
import { testCampaign } from "./test-campaign.ts";
import { writeRecipients } from "./write-recipients.ts";

type LinkStats = z.input<(typeof actions.getCampaignStats)["responses"][200]>["links"];

export interface CampaignRouteDependencies extends CampaignDependencies {
  linter: Linter;
  database: Database;
  rateLimiter: RateLimiter;
  /** Returns the click counts of a campaign's links. */
  linkStats: (projectId: string, campaignId: string) => Promise<LinkStats>;
}

export function campaignRoutes(deps: CampaignRouteDependencies): Route[] {
  return [...recordRoutes(deps), ...reportRoutes(deps), ...actionRoutes(deps)];
}

/** Reads a full campaign from the request body; missing fields get their defaults. */
function inputOf(body: z.output<typeof contract.createCampaign.body>): CampaignInput {
  const { kind = "MARKETING", audienceFilter = null, ...written } = contract.readSpellings(body);
  const { body: made = "", ...texts } = withMadeBody(written);
  return { ...texts, body: made, kind, audienceFilter };
}

function recordRoutes(deps: CampaignRouteDependencies): Route[] {
  const { database } = deps;
  return [
    route(contract.listCampaigns, async ({ projectId, query }) => {
      const filter = { status: query.status, search: query.search };
      return ok(await listCampaigns(database, projectId, filter, readPage("campaigns", query)));
    }),
    route(contract.createCampaign, async ({ projectId, body, commit }) => {
      const input = inputOf(body);
      const checked = await checkNewCampaign(deps, projectId, input);
      const warnings = await warnOnSaving(database, projectId, input);
      return commit(async (tx) =>
        created({ ...(await createCampaign(tx, deps, projectId, checked)), warnings }),
      );
    }),
    route(contract.getCampaign, async ({ projectId, params }) =>
      ok(await getCampaign(database, projectId, params.id)),
    ),
    route(contract.replaceCampaign, async ({ projectId, params, body, commit }) => {
      const input = inputOf(body);
      const { expectedUpdatedAt, confirm: confirmed = [] } = body;
      const checked = await checkReplacement(database, deps, projectId, params.id, {
        input,
        expectedUpdatedAt,
        confirmed,
      });
      const warnings = await warnOnSaving(database, projectId, input);
      return commit(async (tx) => ok({ ...(await replaceCampaign(tx, deps, projectId, checked)), warnings }));
    }),
    route(contract.deleteCampaign, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteCampaign(tx, projectId, params.id);
        return noContent();
      }),
    ),
    route(contract.duplicateCampaign, async ({ projectId, params, commit }) =>
      commit(async (tx) => created(await duplicateCampaign(tx, projectId, params.id))),
    ),
    route(actions.getCampaignAudience, async ({ projectId, params }) =>
      ok(await countAudience(database, projectId, await getCampaignRow(database, projectId, params.id))),
    ),
    route(actions.listCampaignRecipients, async ({ projectId, params, query }) => {
      const { id } = await getCampaignRow(database, projectId, params.id);
      const request = readPage("recipients", query);
      return ok(await listRecipients(database, { projectId, campaignId: id }, query.status, request));
    }),
    route(actions.checkCampaign, async ({ projectId, params }) =>
      ok(await checkCampaign(database, deps, projectId, params.id)),
    ),
  ];
}

function reportRoutes(deps: CampaignRouteDependencies): Route[] {
  const { database } = deps;
  return [
    route(actions.getCampaignStats, async ({ projectId, params }) =>
      ok({
        ...(await getStats(database, projectId, params.id)),
        links: await deps.linkStats(projectId, params.id),
      }),
    ),
    route(actions.listCampaignProviders, async ({ projectId, params }) =>
      ok(await listProviders(database, projectId, params.id)),
    ),
    route(report.getCampaignActivity, async ({ projectId, params, query }) =>
      ok(await getActivity(database, projectId, params.id, query.hours)),
    ),
    route(report.listPreviousCampaigns, async ({ projectId, params }) =>
      ok(await listPrevious(database, projectId, params.id)),
    ),
    route(report.exportCampaignRecipients, async (call) => {
      const { projectId, query, params } = call;
      const { id, name } = await getCampaignRow(database, projectId, params.id);
      const entry = { projectId, actor: actorOf(call), target: { id, name } };
      if (call.method === "GET")
        await transaction(database, (tx) => recordAudit(tx, [{ ...entry, action: "campaign.exported" }]));
      return csv("recipients.csv", writeRecipients(database, { projectId, campaignId: id }, query.status));
    }),
    route(report.countCampaignRecipients, async ({ projectId, params }) =>
      ok(await countStatuses(database, projectId, params.id)),
    ),
  ];
}

/** Records an action on a campaign in the audit log and returns the campaign. */
async function noted(
  tx: Tx,
  call: Pick<Call, "userId" | "ip"> & { projectId: string },
  action: "campaign.sent" | "campaign.scheduled" | "campaign.cancelled",
  campaign: CampaignView,
): Promise<CampaignView> {
  const { id, name, scheduledFor } = campaign;
  const details = action === "campaign.scheduled" ? { scheduledFor } : {};
  const entry = { projectId: call.projectId, actor: actorOf(call), action, target: { id, name }, details };
  await recordAudit(tx, [entry]);
  return campaign;
}

function actionRoutes(deps: CampaignRouteDependencies): Route[] {
  const { database, domains } = deps;
  return [
    route(actions.sendCampaign, async (call) => {
      const { projectId, params, body } = call;
      const scheduledFor = body.scheduledFor ?? body.scheduledAt ?? null;
      const checked = await checkStart(database, deps, projectId, params.id, {
        scheduledFor,
        confirmed: body.confirm ?? [],
      });
      const action = scheduledFor === null ? "campaign.sent" : "campaign.scheduled";
      return call.commit(async (tx) =>
        ok(await noted(tx, call, action, await sendCampaign(tx, deps, projectId, checked))),
      );
    }),
    route(actions.cancelCampaign, async (call) =>
      call.commit(async (tx) => {
        const campaign = await cancelCampaign(tx, call.projectId, call.params.id);
        return ok(await noted(tx, call, "campaign.cancelled", campaign));
      }),
    ),
    route(actions.pauseCampaign, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await pauseCampaign(tx, projectId, params.id))),
    ),
    route(actions.resumeCampaign, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await resumeCampaign(tx, projectId, params.id))),
    ),
    route(actions.retryFailedCampaign, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await retryFailed(tx, projectId, params.id))),
    ),
    route(actions.resolveCampaign, async ({ projectId, params, body, userId, commit }) =>
      commit(async (tx) => ok(await resolveRecipients(tx, projectId, params.id, body, userId))),
    ),
    route(actions.releaseCampaign, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => ok(await releaseCampaign(tx, projectId, params.id, body.destination ?? null))),
    ),
    route(actions.testCampaign, async ({ projectId, params, body, commit }) => {
      const checked = await checkDraft(deps.renderer, projectId, body.draft);
      await takeTestMail(deps.rateLimiter, projectId);
      return commit(async (tx) =>
        ok({
          success: true,
          email: await testCampaign(tx, domains, projectId, params.id, { ...body, checked }),
        }),
      );
    }),
  ];
}
