// Reads a message from an SMTP connection and stores it as a notice for each recipient.
import { createHash } from "node:crypto";
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import { localPartOf } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import type { NoticeStore } from "./notices.ts";
import {
  BEGINNING_BYTES,
  headerLength,
  readIncoming,
  type IncomingBytes,
  type IncomingMemory,
} from "./read-incoming.ts";
import { isReturnPath } from "./return-path.ts";
import type { SenderChecker } from "./sender-checks/check-sender.ts";
import {
  domainReportBytesTakes,
  inboundBytesTakes,
  isWithinRates,
  operatorBytesTakes,
  reportBytesTakes,
} from "./smtp-rates.ts";
import { recipientsOf, type Kind, type ReceivingDomains, type Recipient } from "./smtp-recipients.ts";
import { HEADER_TOO_LARGE, NO_ROOM, TOO_LARGE, TOO_MUCH } from "./smtp-rejections.ts";

/** Many servers return the whole email, along with the report and headers added on the way. */
export const MOST_BYTES = LIMITS.messageBytes.value + 1024 * 1024;

export interface Receiver extends ReceivingDomains {
  notices: NoticeStore;
  rateLimiter: RateLimiter;
  memory: IncomingMemory;
  checker: SenderChecker;
}

type Envelope = SMTPServerSession["envelope"];

/** Allows the size of an email plus its report, because a rejected bounce would come back to no one and the address would stay. */
export function mostBytes(envelope: Envelope): number {
  const hasReport = recipientsOf(envelope).some(({ kind }) => kind === "report");
  return hasReport ? MOST_BYTES : LIMITS.inboundBytes.value;
}

/** Returns the envelope sender, '' for the empty reverse-path. */
export function senderOf({ mailFrom }: Envelope): string {
  return mailFrom === false ? "" : mailFrom.address;
}

/** Resolves when the message is stored for each valid recipient. */
export async function takeMessage(
  stream: SMTPServerDataStream,
  { envelope, remoteAddress, hostNameAppearsAs: helo }: SMTPServerSession,
  deps: Receiver,
): Promise<void> {
  const { notices, returnPaths, checker } = deps;
  const recipients = recipientsOf(envelope);
  const isWritten = recipients.some(({ kind }) => kind === "project");
  const mostKept = isWritten ? LIMITS.inboundBytes.value : BEGINNING_BYTES;
  const incoming = await readIncoming(stream as AsyncIterable<Buffer>, mostKept, deps.memory);
  try {
    refuse(incoming, isWritten, mostBytes(envelope));
    const sender = senderOf(envelope);
    const copies = recipients.map((recipient) => ({
      ...recipient,
      raw: recipient.kind === "project" ? incoming.raw : incoming.raw.subarray(0, BEGINNING_BYTES),
    }));
    if (!(await isWithinRates(deps.rateLimiter, bytesTakesOf(copies, sender, remoteAddress)))) throw TOO_MUCH;
    const checks = isWritten ? await checker.check({ raw: incoming.raw, remoteAddress, helo, sender }) : null;
    for (const { address: recipient, kind, projectId: receiverId, raw } of copies) {
      const local = localPartOf(recipient);
      // At the domain of a project every address is a person's, also one that begins like a return path.
      if (kind === "report" && isReturnPath(local) && returnPaths.read(local) === null) continue;
      const key = `${recipient}\n${incoming.fingerprint}`;
      const providerId = createHash("sha256").update(key).digest("base64url");
      const authentication = kind === "project" ? checks : null;
      await notices.store({
        source: "smtp",
        providerId,
        raw,
        sender,
        recipient,
        authentication,
        receiverId,
        toldAt: null,
      });
    }
  } finally {
    incoming.release();
  }
}

/** @throws SmtpRejection for a message that would not be stored as it is */
function refuse({ raw, size, hadRoom }: IncomingBytes, isWritten: boolean, most: number): void {
  if (size > most || (isWritten && size > LIMITS.inboundBytes.value)) throw TOO_LARGE;
  if (!hadRoom) throw NO_ROOM;
  const header = headerLength(raw) ?? size;
  if (isWritten && header > LIMITS.inboundHeaderBytes.value) throw HEADER_TOO_LARGE;
}

interface Copy extends Recipient {
  raw: Buffer;
}

function bytesTakesOf(copies: readonly Copy[], sender: string, remoteAddress: string) {
  const bytesOf = (kind: Kind) =>
    copies.filter((copy) => copy.kind === kind).reduce((sum, { raw }) => sum + raw.length, 0);
  return [
    ...reportBytesTakes(remoteAddress, bytesOf("report")),
    ...domainReportBytesTakes(remoteAddress, bytesOf("domain-report")),
    ...operatorBytesTakes(remoteAddress, bytesOf("operator")),
    ...copies.flatMap(({ kind, counted, raw }) =>
      kind === "project" ? inboundBytesTakes(counted, { sender, remoteAddress }, raw.length) : [],
    ),
  ].filter(({ amount }) => amount !== 0);
}
