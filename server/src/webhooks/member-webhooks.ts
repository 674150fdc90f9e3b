// Notifies members by calls to their own endpoints. Stores the URL, lists the results, and makes a test call
// (docs/decisions/0077-notifications-by-webhook.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import type { JobStep } from "../platform/background/jobs.ts";
import { takeOrThrow, type RateLimiter } from "../platform/http/rate-limit.ts";
import { AppError } from "../platform/app-error.ts";
import {
  readWebhookUrl,
  readWebhookUrls,
  setWebhookUrl,
  type MemberCalls,
  type MemberKey,
} from "../projects/members/notifications.ts";
import type { CallWebhook } from "./call-webhook.ts";
import { checkWebhookUrl } from "./check-webhook.ts";
import type { CallTargets } from "./networks.ts";
import { deleteWaitingCallsOf, listCallsOf } from "./queries.ts";
import { signWebhook } from "./sign-webhook.ts";
import { queueWebhookCalls } from "./webhook-calls.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

const HOUR_SECONDS = 3_600;
const OWNER = "member";

/** Queues the calls to members at their current URLs. */
export const callMembersStep: JobStep = async (tx, { projectId, input }) => {
  const { kind, userIds, body } = input as MemberCalls;
  const members = await readWebhookUrls(tx, projectId, userIds);
  await queueWebhookCalls(
    tx,
    members.map(({ userId, url }) => ({
      projectId,
      ownerKind: OWNER,
      ownerId: userId,
      ownerRef: kind,
      url,
      method: "POST",
      headers: {},
      body,
    })),
  );
  return { done: true, result: { called: members.length } };
};

/**
 * Returns a member's URL and last calls.
 * @throws AppError PROJECT_NOT_FOUND if the user is no longer a member
 */
export async function readMemberWebhook(database: Database, member: MemberKey) {
  const url = await readWebhookUrl(database, member);
  const rows = await listCallsOf(database, {
    projectId: member.projectId,
    ownerKind: OWNER,
    ownerId: member.userId,
    limit: LIMITS.notificationCalls.value,
  });
  const calls = rows.map((row) => ({
    id: row.id,
    kind: row.ownerRef as NotificationKind,
    state: row.state as "waiting" | "done" | "failed",
    tries: row.tries,
    status: row.responseStatus,
    error: row.error,
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  }));
  return { url, calls };
}

/**
 * Changes a member's URL, and deletes waiting calls to any other URL.
 * @throws AppError VALIDATION_ERROR, PROJECT_NOT_FOUND
 */
export async function changeMemberWebhook(
  tx: Tx,
  member: MemberKey,
  url: string | null,
  targets: CallTargets,
): Promise<void> {
  const fault = url === null ? null : checkWebhookUrl(url, targets);
  if (fault !== null) throw new AppError("VALIDATION_ERROR", { fields: [{ field: "url", ...fault }] });
  await setWebhookUrl(tx, member, url);
  await deleteWaitingCallsOf(tx, {
    projectId: member.projectId,
    ownerKind: OWNER,
    ownerId: member.userId,
    exceptUrl: url,
  });
}

/**
 * Makes one test call immediately without storing it.
 * @throws AppError CONFLICT without a URL, RATE_LIMIT_EXCEEDED, PROJECT_NOT_FOUND
 */
export async function testMemberWebhook(
  parts: { database: Database; rateLimiter: RateLimiter; secrets: WebhookSecrets; call: CallWebhook },
  member: MemberKey,
): Promise<{ status: number | null; error: string | null }> {
  const { database, rateLimiter, secrets, call } = parts;
  const { projectId } = member;
  const url = await readWebhookUrl(database, member);
  if (url === null) throw new AppError("CONFLICT", { message: "Your webhook has no URL yet." });
  await takeOrThrow(rateLimiter, {
    bucket: `webhook-tests:${projectId}`,
    limit: LIMITS.webhookTests.value,
    windowSeconds: HOUR_SECONDS,
  });
  const at = now();
  const subject = "A test of your webhook";
  const body = JSON.stringify({
    type: "test",
    timestamp: at.toISOString(),
    data: { projectId, subject, text: "The notifications that you chose look like this." },
  });
  const headers = signWebhook(await secrets.read(database, projectId), { id: newId(), at, body });
  const { status, error } = await call({ url, method: "POST", headers, body });
  return { status, error };
}
