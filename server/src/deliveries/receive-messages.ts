// Receives messages from people: stores them and records the events of their contacts.
import { domainOf } from "@postloft/contract/address.ts";
import { EMAIL_RECEIVED } from "@postloft/contract/event-names.ts";
import type { Tx } from "../platform/database/database.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { recordEvents } from "../events/events.ts";
import { pairUp } from "../platform/pair-up.ts";
import { findExisting, findWrittenTo } from "../projects/projects.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { keepReceivedEmails } from "../received/keep-received.ts";
import type { NoticeRow } from "./queries.ts";
import type { Read } from "./read-notices.ts";
import type { IncomingMessage } from "./returned-message.ts";
import { provesDomain } from "./sender-checks/proves-domain.ts";

/** Stores messages from people and records the events of their contacts. Returns the messages to existing projects. */
export async function receiveMessages(
  tx: Tx,
  notices: ReadonlyArray<readonly [NoticeRow, Read]>,
): Promise<Set<IncomingMessage>> {
  const messages = notices.flatMap(([notice, read]) =>
    "message" in read ? [{ notice, message: read.message }] : [],
  );
  if (messages.length === 0) return new Set();
  const names = messages.flatMap(({ message: { to } }) => ("inboundName" in to ? [to.inboundName] : []));
  const receivers = messages.flatMap(({ notice: { receiverId } }) => receiverId ?? []);
  const byName = await findWrittenTo(tx, [...new Set(names)]);
  const existing = await findExisting(tx, [...new Set(receivers)]);
  const own = messages.flatMap(({ notice, message }) => {
    const { to } = message;
    const { id, recipient, raw, receiverId, authentication: checks } = notice;
    const projectId = "domain" in to ? receiverId : byName.get(to.inboundName);
    if (projectId == null || ("domain" in to && !existing.has(projectId))) return [];
    const whole = { recipient: recipient ?? "", raw: raw ?? Buffer.alloc(0) };
    const authentication =
      checks === null ? null : { verified: provesDomain(checks, domainOf(message.from)), ...checks };
    return [{ ...message, ...whole, id, projectId, message, authentication }];
  });
  const contacts = await upsertContacts(
    tx,
    own.map(({ projectId, from }) => ({
      projectId,
      email: from,
      // Writing to a project is not consent to receive email. Existing consent stays.
      subscribedIfNew: false,
      patch: readDataPatch(undefined),
      via: { source: "inbound", actor: null, ip: null },
    })),
  );
  // The `email.received` event does not announce the new contact to change subscribers.
  await enqueueContactEvents(
    tx,
    pairUp(own, contacts).flatMap(([{ projectId }, { contactId, isNew }]) =>
      isNew ? [{ projectId, contactId }] : [],
    ),
  );
  await keepReceivedEmails(
    tx,
    pairUp(own, contacts).map(([message, { contactId }]) => ({ ...message, contactId })),
  );
  await recordEvents(
    tx,
    pairUp(own, contacts).map(([{ projectId, id, data, authentication }, { contactId }]) => ({
      projectId,
      contactId,
      name: EMAIL_RECEIVED,
      data: { ...data, receivedEmailId: id, ...(authentication === null ? {} : { authentication }) },
    })),
  );
  return new Set(own.map(({ message }) => message));
}
