// Notifies the members of a project who subscribed to an event.
import {
  NOTIFICATION_KINDS,
  NOTIFICATIONS,
  type NotificationKind,
} from "@postloft/contract/notifications.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { now } from "../../platform/clock.ts";
import { addJob } from "../../platform/background/jobs.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import { mailLanguageOf } from "../../emails/platform-email/mail-language.ts";
import type { MailInLanguage } from "./notification-mails.ts";
import {
  findChoices,
  listDueProjects,
  listListeners,
  listWebhookUrls,
  markNotified,
  mergeChoices,
  updateWebhookUrl,
  type ChoicesRow,
} from "./notification-queries.ts";

/** A member's choices. Missing kinds have their default. */
type Choices = { readonly [Kind in NotificationKind]?: boolean | undefined };

/** Identifies a member of a project. */
export interface MemberKey {
  projectId: string;
  userId: string;
}

/** The kind of job that calls members' webhooks after the transaction that queued it. */
export const CALL_MEMBERS_JOB = "notifications.call";
/** The input of such a job. */
export interface MemberCalls {
  kind: NotificationKind;
  userIds: readonly string[];
  /** The body that the endpoints receive. */
  body: string;
}

function present({ notifications, webhookKinds: byWebhook }: ChoicesRow) {
  return NOTIFICATION_KINDS.map((kind) => ({
    kind,
    about: NOTIFICATIONS[kind].about,
    byMail: notifications[kind] ?? NOTIFICATIONS[kind].isUsual,
    byWebhook: byWebhook[kind] ?? false,
  }));
}

async function getChoices(database: Database, { projectId, userId }: MemberKey): Promise<ChoicesRow> {
  const choices = await findChoices(database, projectId, userId);
  if (choices === undefined) throw new AppError("PROJECT_NOT_FOUND");
  return choices;
}

/**
 * Returns a member's notification settings.
 * @throws AppError PROJECT_NOT_FOUND for a former member
 */
export async function readNotifications(database: Database, member: MemberKey) {
  return present(await getChoices(database, member));
}

/**
 * Stores choices and keeps the other ones.
 * @throws AppError PROJECT_NOT_FOUND for a former member; VALIDATION_ERROR for a webhook without a URL
 */
export async function chooseNotifications(
  tx: Tx,
  member: MemberKey,
  { webhook = {}, ...byMail }: Choices & { readonly webhook?: Choices | undefined },
) {
  const merged = await mergeChoices(tx, member, { byMail, byWebhook: webhook });
  if (merged === undefined) throw new AppError("PROJECT_NOT_FOUND");
  const asked = NOTIFICATION_KINDS.find((kind) => webhook[kind] === true);
  if (asked !== undefined && merged.webhookUrl === null)
    throw invalidField(`webhook.${asked}`, "custom", "Your webhook has no URL yet.");
  return present(merged);
}

/**
 * Returns a member's webhook URL, or null if there is none.
 * @throws AppError PROJECT_NOT_FOUND for a former member
 */
export async function readWebhookUrl(database: Database, member: MemberKey): Promise<string | null> {
  return (await getChoices(database, member)).webhookUrl;
}

/**
 * Sets a member's webhook URL.
 * @throws AppError PROJECT_NOT_FOUND for a former member
 */
export async function setWebhookUrl(tx: Tx, member: MemberKey, url: string | null): Promise<void> {
  if (!(await updateWebhookUrl(tx, member, url))) throw new AppError("PROJECT_NOT_FOUND");
}

/** Returns the webhook URLs of those members who have one. */
export async function readWebhookUrls(database: Database, projectId: string, userIds: readonly string[]) {
  return listWebhookUrls(database, projectId, userIds);
}

/** The facts of a notification in machine-readable form. */
export type NotificationFacts = Readonly<Record<string, string | number | null | readonly string[]>>;

/** Webhook texts are in English, like API responses. */
const LANGUAGE_OF_CALLS = "en";

/**
 * Queues an email in the member's language, a webhook call, or both for each subscribed member.
 * @param facts machine-readable facts in addition to the text
 * @returns how many emails
 */
export async function notifyMembers(
  tx: Tx,
  { projectId, kind, facts }: { projectId: string; kind: NotificationKind; facts: NotificationFacts },
  mail: MailInLanguage,
): Promise<number> {
  const listeners = await listListeners(tx, { projectId, kind, isUsual: NOTIFICATIONS[kind].isUsual });
  const mails = listeners.flatMap(({ byMail, email: to, language }) =>
    byMail ? [{ to, ...mail(mailLanguageOf(language)) }] : [],
  );
  await enqueuePlatformEmails(tx, mails);
  const userIds = listeners.filter(({ byWebhook }) => byWebhook).map(({ userId }) => userId);
  if (userIds.length > 0) {
    const { subject, text } = mail(LANGUAGE_OF_CALLS);
    const body = JSON.stringify({
      type: kind,
      timestamp: now().toISOString(),
      data: { projectId, subject, text, ...facts },
    });
    const input: MemberCalls = { kind, userIds, body };
    await addJob(tx, { projectId, kind: CALL_MEMBERS_JOB, input });
  }
  return mails.length;
}

/**
 * Marks projects as notified and returns those that were not notified since that time. Concurrent callers get different ones.
 * @param about.of the subject within the kind, if subjects are notified separately
 */
export async function takeDue(
  tx: Tx,
  {
    projectIds,
    kind,
    of,
    since,
  }: { projectIds: readonly string[]; kind: NotificationKind; of?: string; since: Date },
): Promise<Set<string>> {
  if (projectIds.length === 0) return new Set();
  const reported = of === undefined ? kind : `${kind} ${of}`;
  return new Set(await markNotified(tx, { projectIds, kind: reported, since }));
}

/** Returns the first projects with subscribers to this kind that were not notified since that time. */
export async function listDueForKind(
  database: Database,
  kind: NotificationKind,
  since: Date,
  limit: number,
): Promise<Array<{ id: string; name: string }>> {
  return listDueProjects(database, kind, since, limit);
}
