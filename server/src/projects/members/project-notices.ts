// Security emails to the affected person, or to all owners and admins. They can't be turned off.
import type { Tx } from "../../platform/database/database.ts";
import { mailLanguageOf } from "../../emails/platform-email/mail-language.ts";
import { addressForStrangers, nameForStrangers } from "../../emails/platform-email/name-for-strangers.ts";
import { layOutPlatformEmail } from "../../emails/platform-email/platform-email-layout.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import type { Actor } from "../../audit/audit-log.ts";
import { NOTICE_TEXTS, type Notice, type NoticeFacts } from "./project-notice-texts.ts";
import { listNoticeRecipients } from "./queries.ts";

interface ProjectNotice extends Pick<NoticeFacts, "role" | "owner" | "reason"> {
  projectId: string;
  notice: Notice;
  actor: Actor;
  /** The only recipient. If missing, all owners and admins get it. */
  to?: string;
}

/** Queues a security email in the transaction of the change. Call it while its recipients are still members. */
export async function sendNotice(
  tx: Tx,
  { projectId, notice, actor, to, role, owner, reason }: ProjectNotice,
) {
  const recipients = await listNoticeRecipients(tx, projectId, { to: to ?? null, by: actor.userId });
  const mails = recipients.map(({ email, language: tag, project, by }) => {
    const language = mailLanguageOf(tag);
    const { [notice]: words, footer } = NOTICE_TEXTS[language];
    const { subject, block } = words({
      ...(role === undefined ? {} : { role }),
      ...(reason === undefined ? {} : { reason: withoutFullStop(reason) }),
      ...(owner === undefined ? {} : { owner: addressForStrangers(owner) }),
      project: nameForStrangers(project),
      by: by === null ? null : addressForStrangers(by),
    });
    return { to: email, ...layOutPlatformEmail({ language, subject, blocks: [block], footer }) };
  });
  await enqueuePlatformEmails(tx, mails);
}

/** The sentence around the reason ends with one. */
const withoutFullStop = (reason: string) => reason.trim().replace(/[.!]$/, "");
