// Stores messages from people in the transaction of their event `email.received`.
import { localPartOf, parseAddress } from "@postloft/contract/address.ts";
import type { Tx } from "../platform/database/database.ts";
import { readText } from "../platform/foreign-values.ts";
import { isId } from "../platform/ids.ts";
import {
  findEmailsById,
  findEmailsByProviderId,
  findEmailsBySubmittedId,
  findThreads,
  insertReceived,
  type Authentication,
} from "./queries.ts";

/** The parsed header fields of a message, as its sender wrote them. */
export interface WrittenHeader {
  fromName: string | null;
  replyTo: string | null;
  subject: string | null;
  messageId: string | null;
  inReplyTo: string | null;
  references: string | null;
}

/** A message to a project. */
export interface MessageToKeep {
  projectId: string;
  /** The id of its notice. */
  id: string;
  contactId: string;
  /** In canonical form. */
  from: string;
  recipient: string;
  header: WrittenHeader;
  raw: Buffer;
  /** Null if the sender was not checked. */
  authentication: Authentication | null;
}

interface Kept extends MessageToKeep {
  messageId: string | null;
  /** The newest last. */
  references: string[];
}

const MAX_NAME_LENGTH = 200;
const MAX_SUBJECT_LENGTH = 998;
const MAX_ID_LENGTH = 400;
/** A longer conversation is recognized by its newest messages. */
const MAX_REFERENCES = 50;
const MAX_REFERENCES_LENGTH = 64 * 1024;

/** Stores messages, each once, with the conversation they belong to. Their contacts exist. */
export async function keepReceivedEmails(tx: Tx, messages: readonly MessageToKeep[]): Promise<void> {
  if (messages.length === 0) return;
  const kept = messages.map((message): Kept => {
    const { header } = message;
    return {
      ...message,
      messageId: readMessageIds(header.messageId)[0] ?? null,
      references: referencesOf(header),
    };
  });
  const answered = await findAnswered(tx, kept);
  const threads = await readThreads(tx, kept);
  const rows = kept.map((message) => {
    const { projectId, id, contactId, from, recipient, header, raw, messageId, references } = message;
    const { authentication } = message;
    const emailId = newestOf(references, (reference) => answered(message, reference));
    const known = newestOf(references, (reference) => threads.get(keyOf(projectId, reference)));
    const threadId = known ?? emailId ?? id;
    // A later message of the same batch may reply to this one.
    if (messageId !== null) threads.set(keyOf(projectId, messageId), threadId);
    return {
      projectId,
      id,
      contactId,
      threadId,
      emailId,
      recipient,
      fromAddress: from,
      fromName: readText(header.fromName, MAX_NAME_LENGTH),
      replyTo: readAddress(header.replyTo),
      subject: readText(header.subject, MAX_SUBJECT_LENGTH),
      messageId,
      referenceIds: references,
      raw,
      authentication,
    };
  });
  await insertReceived(tx, rows);
}

const keyOf = (projectId: string, messageId: string) => `${projectId} ${messageId}`;

/** Returns the Message-IDs in a header field, without angle brackets. Others than printable ASCII are left out. */
export function readMessageIds(field: string | null): string[] {
  const text = (field ?? "").slice(-MAX_REFERENCES_LENGTH);
  return [...text.matchAll(/<([!-;=?-~]{1,400})>/g)].map(([, id = ""]) => id.slice(0, MAX_ID_LENGTH));
}

/** Returns the references of a message. In-Reply-To is the newest one (RFC 5322 §3.6.4). */
function referencesOf({ references, inReplyTo }: WrittenHeader): string[] {
  const ids = [...readMessageIds(references), ...readMessageIds(inReplyTo).slice(0, 1)];
  // A repeated id counts at its last place.
  return [...new Set(ids.toReversed())].slice(0, MAX_REFERENCES).toReversed();
}

/** Returns what is found by the newest reference that anything is found by. */
function newestOf(
  references: readonly string[],
  find: (reference: string) => string | undefined,
): string | null {
  for (const reference of references.toReversed()) {
    const found = find(reference);
    if (found !== undefined) return found;
  }
  return null;
}

function readAddress(text: string | null): string | null {
  const parsed = parseAddress(text ?? "");
  return parsed.ok ? parsed.address : null;
}

/** Returns the threads of received emails that the messages reference. */
async function readThreads(tx: Tx, messages: readonly Kept[]): Promise<Map<string, string>> {
  const asked = messages.flatMap(({ projectId, references }) =>
    references.map((value) => ({ projectId, value })),
  );
  if (asked.length === 0) return new Map();
  const rows = await findThreads(tx, asked);
  return new Map(rows.map(({ projectId, value, threadId }) => [keyOf(projectId, value), threadId]));
}

/** Returns the email that a message answers by one of its references, if there is one. */
type FindAnswered = (message: Kept, reference: string) => string | undefined;

/** Finds the emails of the projects that the messages reference, by our Message-ID or that of a program or an external sending service. */
async function findAnswered(tx: Tx, messages: readonly Kept[]): Promise<FindAnswered> {
  const asked = messages.flatMap(({ projectId, from, references }) =>
    references.map((value) => ({ projectId, from, value, local: localPartOf(value) })),
  );
  const own = asked.filter(({ local }) => isId(local));
  const foreign = asked.filter(({ local }) => !isId(local));
  const toKeys = (keys: typeof asked) => keys.map(({ projectId, local }) => ({ projectId, value: local }));
  const sent = foreign.filter(({ local }) => local !== "");
  const rows = [
    ...(own.length === 0 ? [] : await findEmailsById(tx, toKeys(own))),
    ...(sent.length === 0 ? [] : await findEmailsByProviderId(tx, toKeys(sent))),
  ];
  const submitted = asked.length === 0 ? [] : await findEmailsBySubmittedId(tx, asked);
  const byLocal = new Map(rows.map(({ projectId, value, id }) => [keyOf(projectId, value), id]));
  const byWriter = new Map(
    submitted.map(({ projectId, value, from, id }) => [`${keyOf(projectId, value)} ${from}`, id]),
  );
  return ({ projectId, from }, reference) =>
    byLocal.get(keyOf(projectId, localPartOf(reference))) ??
    byWriter.get(`${keyOf(projectId, reference)} ${from}`);
}
