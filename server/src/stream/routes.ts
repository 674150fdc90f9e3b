// HTTP routes of the event stream and of webhook endpoints.
import * as stream from "@postloft/contract/event-stream.ts";
import * as deliveries from "@postloft/contract/webhook-deliveries.ts";
import * as contract from "@postloft/contract/webhook-endpoints.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { AuditAction } from "@postloft/contract/audit.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import { EVENT_STREAM_HEADERS } from "../platform/http/stream-headers.ts";
import { createWebhookCaller } from "../webhooks/call-webhook.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { getDelivery, listDeliveries, resendDelivery, resendFailed } from "./delivery-log.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  rotateSecret,
  testEndpoint,
} from "./endpoints.ts";
import type { LiveStream } from "./live-stream.ts";
import { readStream } from "./numbered-log.ts";
import { replayEvents } from "./replay.ts";

interface Dependencies {
  database: Database;
  sealer: Sealer;
  dns: Dns;
  rateLimiter: RateLimiter;
  webhookTargets: CallTargets;
  live: LiveStream;
}

interface Author {
  projectId: string;
  userId: string | null;
  ip: string | undefined;
}

async function note(tx: Tx, call: Author, action: AuditAction, { id, url }: { id: string; url: string }) {
  const target = { id, name: url };
  await recordAudit(tx, [{ projectId: call.projectId, actor: actorOf(call), action, target }]);
}

function deliveryRoutes(database: Database): Route[] {
  return [
    route(deliveries.listDeliveries, async ({ projectId, params: { id }, query }) =>
      ok(await listDeliveries(database, { projectId, id }, query)),
    ),
    route(deliveries.getDelivery, async ({ projectId, params: { id, deliveryId } }) =>
      ok(await getDelivery(database, { projectId, id }, deliveryId)),
    ),
    route(deliveries.resendDelivery, async ({ projectId, params: { id, deliveryId }, commit }) =>
      commit(async (tx) => ok(await resendDelivery(tx, { projectId, id }, deliveryId))),
    ),
    route(deliveries.resendFailed, async ({ projectId, params: { id }, commit }) =>
      commit(async (tx) => ok(await resendFailed(tx, { projectId, id }))),
    ),
    route(deliveries.replayEvents, async ({ projectId, params: { id }, body, commit }) =>
      commit(async (tx) => ok(await replayEvents(tx, { projectId, id }, body))),
    ),
  ];
}

/** Returns the number that a reconnecting client sends, or undefined for anything else. */
function lastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

export function eventStreamRoutes(deps: Dependencies): Route[] {
  const { database, sealer, webhookTargets: targets } = deps;
  const parts = { sealer, targets };
  const call = createWebhookCaller({
    dns: deps.dns,
    targets,
    longestWaitSeconds: LIMITS.eventRetryWait.value,
  });
  return [
    route(stream.streamEvents, async ({ projectId, query }) =>
      ok(await readStream(database, projectId, query)),
    ),
    route(stream.streamLiveEvents, async (asked) => {
      if (asked.method === "HEAD") return { ...ok(""), headers: EVENT_STREAM_HEADERS };
      const from = lastEventId(asked.headers["last-event-id"]) ?? asked.query.after;
      return { ...ok(await deps.live.follow(asked, from)), headers: EVENT_STREAM_HEADERS };
    }),
    route(contract.listWebhookEndpoints, async ({ projectId }) =>
      ok({ data: await listEndpoints(database, projectId) }),
    ),
    route(contract.createWebhookEndpoint, async (input) =>
      input.commit(async (tx) => {
        const view = await createEndpoint(tx, parts, input.projectId, input.body);
        await note(tx, input, "webhookEndpoint.added", view);
        return created(view);
      }),
    ),
    route(contract.updateWebhookEndpoint, async (input) =>
      input.commit(async (tx) => {
        const key = { projectId: input.projectId, id: input.params.id };
        const view = await changeEndpoint(tx, parts, key, input.body);
        await note(tx, input, "webhookEndpoint.updated", view);
        return ok(view);
      }),
    ),
    route(contract.deleteWebhookEndpoint, async (input) =>
      input.commit(async (tx) => {
        const { id } = input.params;
        const url = await deleteEndpoint(tx, input.projectId, id);
        await note(tx, input, "webhookEndpoint.removed", { id, url });
        return noContent();
      }),
    ),
    route(contract.rotateEndpointSecret, async (input) =>
      input.commit(async (tx) => {
        const view = await rotateSecret(tx, parts, input.projectId, input.params.id);
        await note(tx, input, "webhookEndpoint.secretRotated", view);
        return ok(view);
      }),
    ),
    route(contract.testWebhookEndpoint, async ({ projectId, params, commit }) => {
      const result = await testEndpoint({ ...deps, call }, projectId, params.id);
      return commit(async () => ok(result));
    }),
    ...deliveryRoutes(database),
  ];
}
