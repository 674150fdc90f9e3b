// What happened to a project, told to those of its members who want to know.
import {
  NOTIFICATION_KINDS,
  NOTIFICATIONS,
  type NotificationKind,
} from "@postloft/contract/notifications.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { now } from "../../platform/clock.ts";
import { addJob } from "../../platform/background/jobs.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import { enqueueSystemMails } from "../../emails/system-mail/system-mail.ts";
import { mailLanguageOf } from "../../emails/system-mail/mail-language.ts";
import type { MailInLanguage } from "./notification-mails.ts";
import {
  findChoices,
  listDueProjects,
  listListeners,
  listWebhookUrls,
  markTold,
  mergeChoices,
  updateWebhookUrl,
  type ChoicesRow,
} from "./notification-queries.ts";

/** What somebody chose; what they did not is as it is by itself. */
type Choices = { readonly [Kind in NotificationKind]?: boolean | undefined };

/** Who is told, in which project. */
export interface MemberKey {
  projectId: string;
  userId: string;
}

/** The kind of job that calls members: told in a transaction, called after it. */
export const CALL_MEMBERS_JOB = "notifications.call";
/** The input of such a job. */
export interface MemberCalls {
  kind: NotificationKind;
  userIds: readonly string[];
  /** As the endpoints get it. */
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
  if (choices === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  return choices;
}

/** @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more */
export async function readNotifications(database: Database, member: MemberKey) {
  return present(await getChoices(database, member));
}

/**
 * Keeps what is chosen beside what was.
 * @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more; VALIDATION_ERROR for a webhook without an address
 */
export async function chooseNotifications(
  tx: Tx,
  member: MemberKey,
  { webhook = {}, ...byMail }: Choices & { readonly webhook?: Choices | undefined },
) {
  const merged = await mergeChoices(tx, member, { byMail, byWebhook: webhook });
  if (merged === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  const asked = NOTIFICATION_KINDS.find((kind) => webhook[kind] === true);
  if (asked !== undefined && merged.webhookUrl === null)
    throw invalidField(`webhook.${asked}`, "custom", "Your webhook has no address yet.");
  return present(merged);
}

/** Where a member is called; null: nowhere. @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more */
export async function readWebhookUrl(database: Database, member: MemberKey): Promise<string | null> {
  return (await getChoices(database, member)).webhookUrl;
}

/** Where a member is called from now on. @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more */
export async function setWebhookUrl(tx: Tx, member: MemberKey, url: string | null): Promise<void> {
  if (!(await updateWebhookUrl(tx, member, url))) throw new Refusal("PROJECT_NOT_FOUND");
}

/** Where members are called, those of them who are. */
export async function readWebhookUrls(database: Database, projectId: string, userIds: readonly string[]) {
  return listWebhookUrls(database, projectId, userIds);
}

/** Plain values by which a program knows what it is told about. */
export type ToldFacts = Readonly<Record<string, string | number | null | readonly string[]>>;

/** What calls say in words: they are for programs, as answers of the API are. */
const LANGUAGE_OF_CALLS = "en";

/**
 * Queues one mail in their language, one call or both for each member who wants to know.
 * @param facts what a program needs to know, beside the words for people
 * @returns how many mails
 */
export async function tellMembers(
  tx: Tx,
  { projectId, kind, facts }: { projectId: string; kind: NotificationKind; facts: ToldFacts },
  mail: MailInLanguage,
): Promise<number> {
  const listeners = await listListeners(tx, { projectId, kind, isUsual: NOTIFICATIONS[kind].isUsual });
  const mails = listeners.flatMap(({ byMail, email: to, language }) =>
    byMail ? [{ to, ...mail(mailLanguageOf(language)) }] : [],
  );
  await enqueueSystemMails(tx, mails);
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
 * Those of the projects that were not told this since then; from now on they were. Of several at once one gets each.
 * @param about.of what of the kind it is about, where that is told by itself
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
  const told = of === undefined ? kind : `${kind} ${of}`;
  return new Set(await markTold(tx, { projectIds, kind: told, since }));
}

/** The first projects of which somebody asked for this, and were not told since then. */
export async function listDueForKind(
  database: Database,
  kind: NotificationKind,
  since: Date,
  limit: number,
): Promise<Array<{ id: string; name: string }>> {
  return listDueProjects(database, kind, since, limit);
}
