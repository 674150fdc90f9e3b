// Builds, signs and addresses the message of one email, from a rendered body or from a raw message.
import { hasNonAsciiLocalPart, localPartOf } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { signMessage, type DkimKey } from "../../message/dkim.ts";
import { buildMessage, type Message } from "../../message/message.ts";
import { reportHeaders, streamOf, type HeaderField } from "../../message/message-headers.ts";
import { buildRawMessage, factsOfRaw, type RawFacts } from "../../message/raw-message.ts";
import type { BodyResult } from "../../rendering/renderer.ts";
import type { Transport } from "../../transports/transport.ts";
import type { Copies, Mailbox } from "../outbox/emails.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import type { ChosenTransport, Prepared } from "../rows/prepared.ts";
import { kindOf } from "../rows/rules.ts";
import { headerPartsOf, replyMailboxes } from "./header-parts.ts";
import type { Content } from "./load-contents.ts";

/** Properties of the transport on which a message depends. */
export type TransportFacts = Pick<Transport, "rewrites" | "takesReturnPath">;

export interface MessageNames {
  /** Returns the envelope sender that receives the bounces of an email. If missing or null, the sender's own address is used. */
  returnPathOf?(projectId: string, emailId: string, transport: TransportFacts): string | null;
  /** Returns the project's public id for headers. Defaults to the project id. */
  publicIdOf?(projectId: string): string;
}

/** `unsigned` is only for domains with email that stays on this machine. */
export type SigningKey =
  | {
      kind: "key";
      /** The first key signs alone unless there is a second key of another kind. */
      keys: readonly [DkimKey, ...DkimKey[]];
    }
  | { kind: "unsigned" }
  | { kind: "refused"; reason: string };

/** An unsigned message with its memory. */
interface Built extends Pick<RawFacts, "hasUtf8Header" | "is8Bit"> {
  message: Message;
  memory: ArrayBuffer;
  subject: string;
}

type UsableKey = Exclude<SigningKey, { kind: "refused" }>;

interface Finishing {
  row: ClaimedRow;
  content: Content;
  key: UsableKey;
  chosen: ChosenTransport | null;
  rewrites: readonly string[];
  returnPath: string | null;
  publicProjectId: string;
}

type RenderedBody = Extract<BodyResult, { ok: true }>;

const NO_COPIES: Copies = { cc: [], bcc: [] };

const addressOf = (mailbox: Pick<Mailbox, "address">) => mailbox.address;

/** @param installation properties of the transport of the installation */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createMessageBuilder({
  ports,
  installation,
}: {
  ports: MessageNames;
  installation: TransportFacts;
}) {
  /** Computed once for all recipients of a raw message. */
  const knownFacts = new WeakMap<Content, RawFacts>();

  const factsOfTransport = (chosen: ChosenTransport | null): TransportFacts => chosen?.own ?? installation;
  const rewritesOf = (chosen: ChosenTransport | null) => factsOfTransport(chosen).rewrites ?? [];

  function namesOf({ projectId, id }: ClaimedRow, chosen: ChosenTransport | null) {
    const returnPath = ports.returnPathOf?.(projectId, id, factsOfTransport(chosen)) ?? null;
    return {
      publicProjectId: ports.publicIdOf?.(projectId) ?? projectId,
      returnPath,
      signedId: returnPath === null ? null : localPartOf(returnPath),
    };
  }

  function factsOf(content: Content, raw: Buffer): RawFacts {
    const facts = knownFacts.get(content) ?? factsOfRaw(raw);
    knownFacts.set(content, facts);
    return facts;
  }

  return {
    /** Builds the message of a rendered body and takes over its memory. */
    build(
      row: ClaimedRow,
      content: Content,
      mail: RenderedBody & {
        unsubscribeUrl: string | null;
        cc: Copies["cc"];
        chosen: ChosenTransport | null;
      },
    ): Built {
      const { body, subject, unsubscribeUrl, cc, chosen } = mail;
      const rewrites = rewritesOf(chosen);
      const names = namesOf(row, chosen);
      const parts = headerPartsOf(row, content, { subject, cc, unsubscribeUrl, rewrites, ...names });
      return {
        message: buildMessage({ ...parts, body }),
        memory: body.memory.buffer,
        subject,
        hasUtf8Header: false,
        is8Bit: false,
      };
    },

    /** Copies a raw message, with the fields by which complaints name the email. */
    buildRaw(row: ClaimedRow, content: Content, raw: Buffer, chosen: ChosenTransport | null): Built {
      const facts = factsOf(content, raw);
      const rewrites = rewritesOf(chosen);
      const fields = reportHeaders({
        ...namesOf(row, chosen),
        campaignId: null,
        kind: kindOf(row.priority),
        listKind: null,
      });
      const isFree = ({ name }: HeaderField) =>
        !facts.fieldNames.has(name.toLowerCase()) && !rewrites.includes(name.toLowerCase());
      const { message, memory } = buildRawMessage(raw, facts, fields.filter(isFree));
      return { message, memory, subject: content.subject, ...facts };
    },

    /** Signs and addresses a message. It fails if it is too large. */
    finish(mail: Pick<Finishing, "row" | "content" | "key" | "chosen">, built: Built, copies = NO_COPIES) {
      const { row, chosen } = mail;
      return finish({ ...mail, rewrites: rewritesOf(chosen), ...namesOf(row, chosen) }, built, copies);
    },
  };
}

async function finish(
  { row, content, key, chosen, rewrites, returnPath, publicProjectId }: Finishing,
  { message, memory, subject, hasUtf8Header, is8Bit }: Built,
  copies: Copies,
): Promise<Prepared> {
  const raw = key.kind === "key" ? await signMessage(message, key.keys, rewrites) : message.bytes;
  const most = LIMITS.messageBytes.value;
  if (raw.length > most) return { kind: "failed", row, reason: recordedReason("messageTooLarge", { most }) };
  const recipients = [row.toAddress, ...copies.cc.map(addressOf), ...copies.bcc.map(addressOf)];
  const envelope = { from: returnPath ?? content.fromAddress, to: [...new Set(recipients)] };
  const inHeader = [content.fromAddress, ...replyMailboxes(content).map(addressOf)];
  return {
    kind: "ready",
    row,
    ownSubject: subject === content.subject ? null : subject,
    listKind: content.listKind,
    chosen,
    message: {
      emailId: row.id,
      projectId: row.projectId,
      attempt: row.attempts + 1,
      envelope,
      // For services without a return path, which require a verified address.
      feedbackTo: content.fromAddress,
      raw,
      // Frees the memory immediately. Otherwise the garbage collector would run in full every few thousand emails.
      free: () => void memory.transfer(0),
      // Applies to the envelope and to addresses in the header (RFC 6532).
      needsSmtpUtf8: hasUtf8Header || [envelope.from, ...envelope.to, ...inHeader].some(hasNonAsciiLocalPart),
      is8Bit,
      streams: [
        row.campaignId ?? streamOf({ kind: kindOf(row.priority), listKind: content.listKind }),
        publicProjectId,
      ],
    },
  };
}
