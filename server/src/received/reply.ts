// Builds the email that replies to a received one. It is sent like a call of POST /v1/send.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { replyToReceived } from "@postloft/contract/received-emails.ts";
import { domainOf, localPartOf } from "@postloft/contract/address.ts";
import type { SendBody } from "@postloft/contract/v1.ts";
import type { z } from "zod";
import type { Database } from "../platform/database/database.ts";
import type { Call } from "../platform/http/route.ts";
import type { Domains } from "../domains/domains.ts";
import { findWrittenTo } from "../projects/projects.ts";
import type { WholeRow } from "./queries.ts";
import { getReceivedRow } from "./received-emails.ts";

export type Reply = z.output<(typeof replyToReceived)["body"]>;

/** Sends an email like POST /v1/send. Provided by api.ts, because v1/ comes later. */
export type SendReply = (
  call: Pick<Call, "userId" | "isTest" | "bodyBytes" | "keyed" | "requestId" | "unknownFields"> & {
    projectId: string;
  },
  body: SendBody,
) => Promise<z.input<(typeof replyToReceived)["responses"][200]>>;

export interface ReplyContext {
  database: Database;
  domains: Pick<Domains, "findReceivers">;
}

/** Fits a subject of a stranger with braces, which would otherwise be a template. */
const SUBJECT_VARIABLE = "receivedSubject";

/**
 * Returns the reply as the body of a call of POST /v1/send.
 * @throws AppError EMAIL_NOT_FOUND
 */
export async function readReply(
  { database, domains }: ReplyContext,
  projectId: string,
  id: string,
  { replyTo, subject, ...sent }: Reply,
): Promise<SendBody> {
  const received = await getReceivedRow(database, projectId, id);
  const reply = replyTo ?? (await inboundMailbox({ database, domains }, projectId, received.recipient));
  return {
    ...sent,
    ...(reply === undefined ? {} : { replyTo: reply }),
    ...(subject === undefined ? subjectOf(received) : { subject }),
    to: mailboxOf(received.replyTo ?? received.fromAddress),
    headers: threadHeaders(received),
  };
}

/** Returns the address that received the email if the project still has it, so that the conversation continues there. */
async function inboundMailbox({ database, domains }: ReplyContext, projectId: string, recipient: string) {
  const [name, domain] = [localPartOf(recipient), domainOf(recipient)];
  const byName = (await findWrittenTo(database, [name])).get(name);
  const byDomain = (await domains.findReceivers([domain])).get(domain);
  const isOwn = byName === projectId || (byDomain?.projectId === projectId && !byDomain.isLost);
  return isOwn ? mailboxOf(recipient) : undefined;
}

const mailboxOf = (address: string): SendBody["to"] => [{ address, name: null }];

/** Returns the subject with `Re:`. A stranger's text is never a template. */
export function subjectOf({ subject }: Pick<WholeRow, "subject">): Pick<SendBody, "subject" | "data"> {
  const text = (subject ?? "").replace(/\p{Cc}+/gu, " ");
  const whole = (/^re:/i.test(text) ? text : `Re: ${text}`).trim().slice(0, LIMITS.subjectLength.value);
  if (!whole.includes("{{")) return { subject: whole.toWellFormed() };
  return {
    subject: `{{${SUBJECT_VARIABLE}}}`,
    data: { [SUBJECT_VARIABLE]: { value: whole.toWellFormed(), persistent: false } },
  };
}

/** Returns the header fields that name the conversation (RFC 5322 §3.6.4), as far as they fit. */
export function threadHeaders({
  messageId,
  referenceIds,
}: Pick<WholeRow, "messageId" | "referenceIds">): Record<string, string> {
  if (messageId === null) return {};
  const [first, ...others] = [...referenceIds, messageId].map((id) => `<${id}>`);
  const kept: string[] = [];
  let room = LIMITS.headerValueLength.value - (first ?? "").length;
  for (const id of others.toReversed()) {
    room -= id.length + 1;
    if (room < 0) break;
    kept.unshift(id);
  }
  return { "In-Reply-To": `<${messageId}>`, References: [first, ...kept].join(" ") };
}
