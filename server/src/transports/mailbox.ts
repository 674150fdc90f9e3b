// The transport `mailbox`, which sends nothing off this machine. Messages are kept for viewing, and magic addresses simulate deliveries.
import { decodeWords } from "postal-mime";
import { domainOf, localPartOf } from "@postloft/contract/address.ts";
import type { Database } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { newId } from "../platform/ids.ts";
import { insertMessages, type NewMessage } from "./mailbox-queries.ts";
import type { Feedback, MayLeave, Outcome, OutgoingMessage, Transport } from "./transport.ts";

/** The domain every project may send from while the mailbox is the transport. */
export const SANDBOX_DOMAIN = "sandbox.localhost";

const NAME = "mailbox";
const MAX_BATCH = 100;
const DEFERRED_WAIT_MS = 2_000;
/** Number of attempts for which an email to `deferred@` is deferred. */
const DEFERRED_ATTEMPTS = 2;
const DEFERRED: Outcome = {
  kind: "deferred",
  by: NAME,
  answer: "451 4.7.1 simulated by the local mailbox: try again later",
  retryAfterMs: DEFERRED_WAIT_MS,
};
const MAX_REPLY_LENGTH = 500;

const FEEDBACK: Readonly<Record<string, Feedback>> = {
  delivered: "delivered",
  bounced: "bounced",
  "soft-bounced": "soft-bounced",
  complained: "complained",
};

export function createMailboxTransport(database: Database): Transport {
  const stores = createGroupCommit<OutgoingMessage, void>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    async run(messages) {
      await insertMessages(database, messages.map(toRow));
      return messages.map(() => undefined);
    },
  });
  async function keep(message: OutgoingMessage, mayLeave: MayLeave): Promise<Outcome> {
    const role = magicRole(message.envelope.to[0] ?? "");
    if (role === "deferred" && message.attempt <= DEFERRED_ATTEMPTS) return DEFERRED;
    if (!(await mayLeave())) return { kind: "withdrawn" };
    return stores.submit(message).then(
      () => ({
        kind: "sent",
        by: NAME,
        answer: "250 2.0.0 kept in the local mailbox",
        feedback: FEEDBACK[role] ?? "delivered",
      }),
      (error: unknown) => ({
        kind: "uncertain",
        by: NAME,
        answer: `The local mailbox did not respond: ${String(error)}`.slice(0, MAX_REPLY_LENGTH),
      }),
    );
  }

  const inFlight = new Set<Promise<Outcome>>();
  return {
    name: NAME,
    send(message, mayLeave) {
      const sending = keep(message, mayLeave).finally(() => inFlight.delete(sending));
      inFlight.add(sending);
      return sending;
    },
    async close() {
      await Promise.allSettled(inFlight);
    },
  };
}

/** Returns the local part of an address at the sandbox domain without `+anything`, or "" for other addresses. */
function magicRole(address: string): string {
  if (domainOf(address) !== SANDBOX_DOMAIN) return "";
  return localPartOf(address).split("+")[0] ?? "";
}

function toRow({ projectId, emailId, envelope, raw }: OutgoingMessage): NewMessage {
  const row = { id: newId(), emailId, from: envelope.from, recipients: envelope.to };
  return { ...row, projectId, subject: subjectOf(raw), raw };
}

/** Returns the decoded subject from the message header. */
function subjectOf(raw: Buffer): string {
  const end = raw.indexOf("\r\n\r\n");
  const head = raw.subarray(0, end === -1 ? raw.length : end).toString("utf8");
  const field = /^Subject:[ \t]?((?:.*(?:\r\n[ \t].*)*))/im.exec(head)?.[1] ?? "";
  return decodeWords(field.replace(/\r\n([ \t])/g, "$1"));
}
