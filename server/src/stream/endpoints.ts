// Webhook endpoints of a project: settings, secrets and test calls (docs/decisions/0129-event-deliveries.md).
import { createHash } from "node:crypto";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { EVENT_VERSION, type numberedEvent } from "@postloft/contract/event-stream.ts";
import type * as contract from "@postloft/contract/webhook-endpoints.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { AppError, invalidField } from "../platform/app-error.ts";
import { now } from "../platform/clock.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { takeOrThrow, type RateLimiter } from "../platform/http/rate-limit.ts";
import { isId, newId } from "../platform/ids.ts";
import { lockProject } from "../projects/projects.ts";
import type { CallWebhook, WebhookRequest } from "../webhooks/call-webhook.ts";
import { checkWebhookUrl } from "../webhooks/check-webhook.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { makeWebhookSecret, signWebhook } from "../webhooks/sign-webhook.ts";
import { createWebhookVault, listMaskedParameters, maskUrl } from "../webhooks/webhook-vault.ts";
import {
  deleteEndpointRow,
  findCallable,
  findEndpoint,
  insertEndpoint,
  listEndpointRows,
  updateEndpoint,
  updateEndpointSecret,
  type EndpointRow,
} from "./endpoint-queries.ts";
import { startRecording } from "./numbered-log.ts";

const HOUR_SECONDS = 3_600;

type Settings = z.output<typeof contract.createWebhookEndpoint.body>;
type Changes = z.output<typeof contract.updateWebhookEndpoint.body>;

export interface EndpointDependencies {
  sealer: Sealer;
  targets: CallTargets;
}

function present(row: EndpointRow) {
  return {
    ...row,
    url: maskUrl(row.url),
    failingSince: row.failingSince?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns all endpoints. The limit of a project bounds their number. */
export async function listEndpoints(database: Database, projectId: string) {
  return (await listEndpointRows(database, projectId)).map(present);
}

const contextOf = (projectId: string, id: string) => `webhook endpoint ${projectId} ${id}`;

/**
 * Adds an endpoint for the events from now on, and starts recording them.
 * @throws AppError VALIDATION_ERROR for the URL, CONFLICT above the limit of a project
 */
export async function createEndpoint(
  tx: Tx,
  parts: EndpointDependencies,
  projectId: string,
  { url, ...settings }: Settings,
) {
  await lockProject(tx, projectId);
  if ((await listEndpointRows(tx, projectId)).length >= LIMITS.webhookEndpoints.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} webhook endpoints. Delete one first.", {
        most: LIMITS.webhookEndpoints.value,
      }),
    );
  await startRecording(tx, projectId);
  const [id, secret] = [newId(), makeWebhookSecret()];
  const row = await insertEndpoint(tx, {
    projectId,
    id,
    eventTypes: settings.eventTypes,
    description: settings.description ?? null,
    ordered: settings.ordered ?? false,
    tags: settings.tags ?? null,
    addresses: settings.addresses ?? null,
    batchSize: settings.batchSize ?? 1,
    callsPerSecond: settings.callsPerSecond ?? null,
    enabled: settings.enabled ?? true,
    url: sealUrl(parts, projectId, url),
    sealed: parts.sealer.seal(secret, contextOf(projectId, id)),
  });
  return { ...present(row), secret };
}

/** @throws AppError RESOURCE_NOT_FOUND, also for an endpoint of another project, or VALIDATION_ERROR for the URL */
export async function changeEndpoint(
  tx: Tx,
  parts: EndpointDependencies,
  { projectId, id }: { projectId: string; id: string },
  changes: Changes,
) {
  await lockProject(tx, projectId);
  const stored = isId(id) ? await findEndpoint(tx, projectId, id) : undefined;
  if (stored === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  const { url, ...others } = changes;
  const input = url === undefined ? others : { ...others, url: sealUrl(parts, projectId, url, stored.url) };
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return present(await updateEndpoint(tx, projectId, id, given));
}

/** Deletes an endpoint with its deliveries and returns its URL. @throws AppError RESOURCE_NOT_FOUND */
export async function deleteEndpoint(tx: Tx, projectId: string, id: string): Promise<string> {
  const url = isId(id) ? await deleteEndpointRow(tx, projectId, id) : undefined;
  if (url === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  return maskUrl(url);
}

/** Replaces the secret. The previous one also signs for a while. @throws AppError RESOURCE_NOT_FOUND */
export async function rotateSecret(tx: Tx, { sealer }: EndpointDependencies, projectId: string, id: string) {
  const secret = makeWebhookSecret();
  const sealed = sealer.seal(secret, contextOf(projectId, id));
  const row = isId(id) ? await updateEndpointSecret(tx, projectId, id, sealed) : undefined;
  if (row === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  return { ...present(row), secret };
}

/** Returns the URL with encrypted credentials. A mask keeps the stored credential. */
function sealUrl(
  { sealer, targets }: EndpointDependencies,
  projectId: string,
  url: string,
  stored?: string,
): string {
  const fault = checkWebhookUrl(url, targets);
  if (fault !== null) throw new AppError("VALIDATION_ERROR", { fields: [{ field: "url", ...fault }] });
  const sealed = createWebhookVault(sealer).sealUrl(projectId, url, stored);
  const [parameter] = listMaskedParameters(sealed);
  if (parameter === undefined) return sealed;
  throw invalidField(
    "url",
    "custom",
    withValues('There is no stored value for "{parameter}" at this address: give one.', { parameter }),
  );
}

/** An event in the payload of a call. */
type Payload = z.output<typeof numberedEvent>;

/** Makes the signed request for some events, which is a single one unless the endpoint takes batches. */
export type MakeRequest = (events: readonly Payload[]) => WebhookRequest;

/** Returns a function that makes the signed request for events, or null if the endpoint is gone. @throws if its secrets cannot be read */
export async function openEndpoint(
  database: Database,
  sealer: Sealer,
  projectId: string,
  id: string,
): Promise<MakeRequest | null> {
  const found = await findCallable(database, projectId, id, LIMITS.webhookSecretHours.value);
  if (found === undefined) return null;
  const url = createWebhookVault(sealer).openUrl(projectId, found.url);
  const secrets = [found.sealed, ...(found.formerSealed === null ? [] : [found.formerSealed])].map((sealed) =>
    sealer.open(sealed, contextOf(projectId, id)),
  );
  return (events) => {
    const isBatch = found.batchSize > 1;
    const body = JSON.stringify(isBatch ? { events } : events[0]);
    const messageId = isBatch ? idOfBatch(events) : (events[0]?.id ?? "");
    const headers = signWebhook(secrets, { id: messageId, at: now(), body });
    return { url, method: "POST", headers, body };
  };
}

/** Returns the id of a batch, which is the same if the same events are sent together again. */
function idOfBatch(events: readonly Payload[]): string {
  const hash = createHash("sha256");
  for (const { id } of events) hash.update(id);
  return `batch_${hash.digest("base64url")}`;
}

/**
 * Makes one test call immediately without storing it.
 * @throws AppError RESOURCE_NOT_FOUND, RATE_LIMIT_EXCEEDED
 */
export async function testEndpoint(
  parts: { database: Database; sealer: Sealer; rateLimiter: RateLimiter; call: CallWebhook },
  projectId: string,
  id: string,
): Promise<{ status: number | null; error: string | null }> {
  const { database, sealer, rateLimiter, call } = parts;
  const request = isId(id) ? await openEndpoint(database, sealer, projectId, id) : null;
  if (request === null) throw new AppError("RESOURCE_NOT_FOUND");
  await takeOrThrow(rateLimiter, {
    bucket: `webhook-tests:${projectId}`,
    limit: LIMITS.webhookTests.value,
    windowSeconds: HOUR_SECONDS,
  });
  const event: Payload = {
    id: newId(),
    type: "test",
    version: EVENT_VERSION,
    number: 0,
    previous: 0,
    createdAt: now().toISOString(),
    project: projectId,
    redacted: false,
    data: {},
  };
  const { status, error } = await call(request([event]));
  return { status, error };
}
