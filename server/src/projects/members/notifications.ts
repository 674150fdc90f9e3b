// What happened to a project, told to those of its members who want to know.
// Before it: domains/, campaigns/, deliveries/, reports/ have something to tell. After it: emails/system-mail.ts.
import {
  NOTIFICATION_KINDS,
  NOTIFICATIONS,
  type NotificationKind,
} from "@postloft/contract/notifications.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { Refusal } from "../../platform/refusal.ts";
import { enqueueSystemMails } from "../../emails/system-mail.ts";
import type { SystemMailText } from "../../emails/system-mail-layout.ts";
import {
  findChoices,
  listDueProjects,
  listListeners,
  markTold,
  mergeChoices,
} from "./notification-queries.ts";

/** What somebody chose; what they did not is as it is by itself. */
type Choices = { readonly [Kind in NotificationKind]?: boolean | undefined };

function present(choices: Choices) {
  return NOTIFICATION_KINDS.map((kind) => ({
    kind,
    about: NOTIFICATIONS[kind].about,
    byMail: choices[kind] ?? NOTIFICATIONS[kind].isUsual,
  }));
}

/** @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more */
export async function readNotifications(database: Database, projectId: string, userId: string) {
  const choices = await findChoices(database, projectId, userId);
  if (choices === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  return present(choices);
}

/** Keeps what is chosen beside what was. @throws Refusal PROJECT_NOT_FOUND for whoever is no member any more */
export async function chooseNotifications(
  tx: Tx,
  { projectId, userId }: { projectId: string; userId: string },
  choices: Choices,
) {
  const merged = await mergeChoices(tx, projectId, userId, choices);
  if (merged === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  return present(merged);
}

/** Queues one mail for each member who wants to know. Returns how many. */
export async function tellMembers(
  tx: Tx,
  { projectId, kind }: { projectId: string; kind: NotificationKind },
  mail: SystemMailText,
): Promise<number> {
  const addresses = await listListeners(tx, { projectId, kind, isUsual: NOTIFICATIONS[kind].isUsual });
  await enqueueSystemMails(
    tx,
    addresses.map((to) => ({ to, ...mail })),
  );
  return addresses.length;
}

/** Those of the projects that were not told this since then; from now on they were. Of several at once one gets each. */
export async function takeDue(
  tx: Tx,
  about: { projectIds: readonly string[]; kind: NotificationKind; since: Date },
): Promise<Set<string>> {
  return new Set(about.projectIds.length === 0 ? [] : await markTold(tx, about));
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
