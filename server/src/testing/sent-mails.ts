// Creates sent emails for tests without sending any, and notices of Amazon SES about them.
import { sql } from "kysely";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "./add-project.ts";
import { enqueueEmails, makeContent, type Copies } from "../emails/outbox/emails.ts";
import { countMails } from "../emails/results/sending-hours.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";

export interface SentMail {
  projectId: string;
  id: string;
  contactId: string;
  address: string;
  providerId: string;
  messageId: string;
}

export async function makeProject(database: Database): Promise<string> {
  const id = newId();
  await addProject(database, { id, name: "A project" });
  return id;
}

/** Creates contacts, or returns those with the addresses. */
export async function addContacts(
  tx: Tx,
  projectId: string,
  addresses: readonly string[],
  subscribedIfNew: boolean,
) {
  return upsertContacts(
    tx,
    addresses.map((email) => ({
      projectId,
      email,
      subscribedIfNew,
      patch: readDataPatch(undefined),
      via: { source: "api", actor: "key", ip: null },
    })),
  );
}

/** Creates emails to new subscribed contacts, recorded as the sender records them. */
export async function makeSentMails(
  database: Database,
  projectId: string,
  count: number,
  { status = "SENT", copies = null }: { status?: string; copies?: Copies | null } = {},
): Promise<SentMail[]> {
  // Long enough ago that a person could have opened the email.
  const sentAt = new Date(Date.now() - 60_000);
  return transaction(database, async (tx) => {
    const addresses = Array.from({ length: count }, () => `${newId()}@example.com`);
    const contacts = await addContacts(tx, projectId, addresses, true);
    const content = makeContent({
      projectId,
      from: { address: "news@shop.example", name: null },
      replyTo: null,
      subject: "Hello {{name}}",
      html: "<p>Hello</p>",
      text: null,
      headers: [],
      attachments: [],
    });
    const mails = contacts.map(({ contactId }, at) => ({ contactId, address: addresses[at] ?? "" }));
    const ids = await enqueueEmails(
      tx,
      mails.map(({ contactId, address }) => ({
        projectId,
        contactId,
        kind: "TRANSACTIONAL" as const,
        to: { address, name: null },
        copies,
        content,
        variables: {},
      })),
    );
    const sent = mails.map((mail, at): SentMail => {
      const id = ids[at] ?? "";
      return { projectId, id, ...mail, providerId: `ses-${id}`, messageId: `${id}@shop.example` };
    });
    const hasLeft = status === "SENT";
    await sql`
      update emails set status = ${status}, sent_at = case when ${hasLeft}::boolean then ${sentAt.toISOString()}::timestamptz end,
        subject = case when ${hasLeft}::boolean then 'Hello Ada' end, provider_message_id = 'ses-' || id::text
      where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
    if (!hasLeft) return sent;
    await countMails(
      tx,
      sent.map(() => ({ projectId, at: sentAt, what: "sent" as const })),
    );
    return sent;
  });
}

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const VISITS = new Set(["open", "click"]);

/** Returns an SES event about an email in the format of event publishing, with the keys of `over` replaced. */
export function sesEvent(
  mail: SentMail,
  eventType: string,
  part: Record<string, unknown> = {},
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  const name =
    eventType === "Rendering Failure" ? "failure" : eventType[0]?.toLowerCase() + eventType.slice(1);
  return {
    eventType,
    mail: {
      timestamp: new Date().toISOString(),
      messageId: mail.providerId,
      source: "news@shop.example",
      destination: [mail.address],
      headersTruncated: false,
      headers: [{ name: "Message-ID", value: `<${mail.messageId}>` }],
      commonHeaders: { messageId: `<${mail.messageId}>`, subject: "Hello Ada" },
      tags: {
        "postloft-email": [mail.id],
        "postloft-project": [mail.projectId],
        "ses:from-domain": ["shop.example"],
      },
      ...over,
    },
    [name]: {
      timestamp: new Date().toISOString(),
      ...(VISITS.has(name) ? { userAgent: BROWSER } : {}),
      ...part,
    },
  };
}

/** Returns an SES event in the format of feedback notifications, which name the type differently and have no tags. */
export function sesNotification(
  mail: SentMail,
  notificationType: string,
  part: Record<string, unknown> = {},
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  const { eventType: _type, ...event } = sesEvent(mail, notificationType, part, { tags: undefined, ...over });
  return { notificationType, ...event };
}
