// Sends mail of the installation itself, beside the outbox of the projects: the same transport, the same lease, the same handover check before the dot.
// Before it: system-mail.ts queued it. After it: transports/*; system-mail-queries.ts keeps how it ended.
import { hasNonAsciiLocalPart } from "@postloft/contract/address.ts";
import { insist, startLoop } from "../platform/background.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { bookingOf } from "./booking.ts";
import type { Lease } from "./lease.ts";
import { buildBody } from "../message/body.ts";
import { buildMessage } from "../message/message.ts";
import type { Outcome, OutgoingMessage, Transport } from "../transports/transport.ts";
import { MAX_UNCERTAIN_ATTEMPTS, messageDateOf, messageIdOf } from "./rules.ts";
import {
  claimSystemMails,
  endSystemMail,
  markSystemMailSending,
  releaseSystemMail,
  settleLostSystemMails,
  type SystemMailEnd,
  type SystemMailRow,
} from "./system-mail-queries.ts";
import type { SystemMemory } from "./system-memory.ts";

/** Whom mail of the installation comes from. */
export interface SystemAddress {
  address: string;
  name?: string;
}

export interface SystemSender {
  /** Something was enqueued: look now. */
  wake(): void;
  /** Claims nothing more. Resolves when what is in handover has ended. */
  stop(): Promise<void>;
}

interface Parts {
  database: Database;
  transport: Transport;
  lease: Lease;
  memory: SystemMemory;
  systemFrom?: SystemAddress;
  log: Log;
  metrics: Metrics;
}

/** There are few, so few are enough at a time. */
const CLAIM_LIMIT = 10;
const POLL_MS = 5_000;
/** At start the lease is there within a moment; nobody who asked for a new password waits for a whole poll. */
const LEASE_POLL_MS = 200;
/** While the database is away the end of an attempt is kept this long; then the lease is long over and another sender settles the mail. */
const KEPT_MS = 10 * 60_000;
const LOST = "The sender stopped while it handed the mail over; nobody knows whether it was taken.";

/** Starts looking for mail of the installation; without an address to send from it does nothing. */
export function startSystemSender(parts: Parts): SystemSender {
  const { database, lease, systemFrom, log, metrics } = parts;
  if (systemFrom === undefined) return { wake: () => undefined, stop: async () => undefined };

  async function runOnce(from: SystemAddress): Promise<number> {
    if (!lease.isHeld()) return LEASE_POLL_MS;
    const senderId = lease.senderId();
    const lost = await settleLostSystemMails(database, MAX_UNCERTAIN_ATTEMPTS, LOST);
    if (lost.length > 0) log.warn({ systemMailIds: lost }, "mail of the installation is unconfirmed");
    const mails = await claimSystemMails(database, senderId, CLAIM_LIMIT);
    await Promise.all(mails.map((mail) => handOver(parts, from, senderId, mail)));
    return mails.length === CLAIM_LIMIT ? 0 : POLL_MS;
  }

  return startLoop({
    name: "system mail",
    runOnce: () => runOnce(systemFrom),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}

/** Hands one mail over and keeps how that ended. Never throws. */
async function handOver(
  { database, transport, memory, log }: Parts,
  from: SystemAddress,
  senderId: string,
  mail: SystemMailRow,
): Promise<void> {
  const ids = { systemMailId: mail.id, attempt: mail.attempts };
  const mayLeave = async () => {
    const mayPass = await markSystemMailSending(database, senderId, mail.id);
    if (mayPass) memory.passed(mail.id);
    return mayPass;
  };
  const outcome = await sendSystemMail(mail, from, transport, mayLeave).catch((error: unknown): Outcome => {
    log.warn({ err: error, ...ids }, "a handover could not begin; the mail goes back");
    return { kind: "withdrawn" };
  });
  log.info({ ...ids, ...outcome }, "an attempt to send mail of the installation ended");
  const end = outcome.kind === "withdrawn" ? null : endOf(mail, outcome, transport);
  memory.ended(mail.id, end);
  const keep = () =>
    end === null ? releaseSystemMail(database, senderId, mail.id) : endSystemMail(database, senderId, end);
  const tell = (failure: object) =>
    log.warn({ ...ids, ...failure }, "the end of an attempt could not be kept; it is tried again");
  await insist(keep, { forMs: KEPT_MS, tell }).catch((error: unknown) =>
    log.error({ err: error, ...ids }, "the end of an attempt could not be kept; the mail is in doubt"),
  );
}

function endOf(
  mail: SystemMailRow,
  outcome: Exclude<Outcome, { kind: "withdrawn" }>,
  transport: Transport,
): SystemMailEnd {
  const booking = bookingOf(outcome, {
    kind: "TRANSACTIONAL",
    number: mail.attempts,
    // Nothing is kept of each attempt: all of them might have.
    earlierDoubts: mail.attempts - 1,
    random: Math.random(),
    transportName: transport.name,
  });
  return {
    id: mail.id,
    status: booking.status,
    answer: outcome.answer,
    transport: outcome.by ?? transport.name,
    waitMs: booking.waitMs,
    isKept: transport.keepsMessages === true,
  };
}

async function sendSystemMail(
  mail: SystemMailRow,
  from: SystemAddress,
  transport: Transport,
  mayLeave: () => Promise<boolean>,
): Promise<Outcome> {
  const envelope = { from: from.address, to: [mail.to_address] };
  const messageId = messageIdOf(mail.id, from.address);
  const built = buildMessage({
    messageId,
    date: messageDateOf(mail.id),
    from,
    to: [{ address: mail.to_address }],
    subject: mail.subject,
    // RFC 3834. No list, no tracking: this is nobody's campaign.
    headers: [{ name: "Auto-Submitted", value: "auto-generated" }],
    body: buildBody({ messageId, html: mail.html ?? "", text: mail.text ?? "", attachments: [] }),
  });
  const message: OutgoingMessage = {
    emailId: mail.id,
    projectId: null,
    attempt: mail.attempts,
    envelope,
    raw: built.bytes,
    needsSmtpUtf8: [envelope.from, ...envelope.to].some(hasNonAsciiLocalPart),
  };
  return transport.send(message, mayLeave);
}

/** The address mail of the installation comes from when none is set: this installation's own name. */
export function defaultSystemAddress(baseUrl: string): SystemAddress {
  return { address: `postloft@${new URL(baseUrl).hostname}`, name: "Postloft" };
}
