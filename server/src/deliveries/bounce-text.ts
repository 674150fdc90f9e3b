// Reads bounce reports written for people and finds the outcome of each recipient. Pure; never throws, every pattern is linear.
import { domainOf } from "@postloft/contract/address.ts";
import { classifyEnd } from "../transports/replies/replies.ts";
import { DELAYED, FORMS, GIVEN_UP, NOISE, ORIGINAL_BEGINS } from "./bounce-forms.ts";
import type { RecipientStatus } from "./delivery-status.ts";
import { readText } from "../platform/foreign-values.ts";
import { kindOf } from "./rules.ts";
import { findReply, partOf } from "./told-reply.ts";

/** The server's explanation is at the beginning; the original email follows. */
const MAX_TEXT_LENGTH = 16_000;
const MAX_BLOCK_LENGTH = 4_000;
const MAX_REASON_LENGTH = 500;
const MAX_LINES = 400;
const MAX_RECIPIENTS = 20;

export interface BounceText {
  subject: string;
  text: string;
  /** Recipients named in the headers (`X-Failed-Recipients`). */
  failed: readonly string[];
}

/** Returns the explanation in a report, without the original email that came back with it. */
export function explanationOf(text: string): string {
  const head = text.slice(0, MAX_TEXT_LENGTH).replaceAll("\r\n", "\n");
  const cut = head.search(ORIGINAL_BEGINS);
  return cut > 0 ? head.slice(0, cut) : head;
}

/** Returns the text without boilerplate sentences. */
export function withoutNoise(text: string): string {
  return text.replace(NOISE, " ");
}

/** Returns the outcome of each recipient, or null if the text can't be told from a message written by a person. */
export function readBounceText({ subject, text, failed }: BounceText): RecipientStatus[] | null {
  const notifying = explanationOf(text);
  const form = FORMS.find(({ sign }) => sign.test(`${subject}\n${notifying}`));
  const said = withoutNoise(notifying);
  const blocks = blocksOf(said);
  const named = blocks.length === 0 ? failed.slice(0, MAX_RECIPIENTS) : [];
  const whole = `${said}\n${subject}`;
  if (DELAYED.test(whole) && !GIVEN_UP.test(said)) {
    const [recipient = named[0] ?? null] = blocks.map((block) => block.recipient);
    return [{ recipient, kind: "delayed", reason: null, cause: null, refusedBy: null }];
  }
  const reader = { trusted: form !== undefined };
  if (blocks.length <= 1) {
    const found = readBlock({ recipient: blocks[0]?.recipient ?? named[0] ?? null, text: whole }, reader);
    return found.isTelling || form !== undefined ? [found.status] : null;
  }
  const all = readBlock({ recipient: null, text: whole }, reader);
  return blocks.map((block) => {
    const own = readBlock(block, reader);
    return own.isTelling ? own.status : { ...all.status, recipient: block.recipient };
  });
}

interface Block {
  recipient: string | null;
  text: string;
}

const RECIPIENT_LINE =
  /^[\s>*"'\-–]{0,16}(?:(?:final |original )?recipient(?: address)?: ?|to: ?|rcpt to: ?)?[<"'[]{0,2}([^\s<>"'():;,[\]]{1,64}@[a-z0-9.-]{1,255}[a-z0-9])[>"'\]]{0,2}(?=$|[\s:;,(.])/i;

/** Returns each recipient's text from the line that begins with its address. Earlier lines belong to no recipient. */
function blocksOf(text: string): Block[] {
  const blocks = new Map<string, string[]>();
  let own: string[] | undefined;
  for (const line of text.split("\n", MAX_LINES)) {
    const [, address] = RECIPIENT_LINE.exec(line) ?? [];
    if (address !== undefined && (blocks.has(address) || blocks.size < MAX_RECIPIENTS)) {
      own = blocks.get(address) ?? [];
      blocks.set(address, own);
    }
    own?.push(line);
  }
  return [...blocks].map(([recipient, lines]) => ({ recipient, text: lines.join("\n") }));
}

function readBlock(
  { recipient, text }: Block,
  { trusted }: { trusted: boolean },
): { status: RecipientStatus; isTelling: boolean } {
  const said = text.slice(0, MAX_BLOCK_LENGTH);
  const { code, enhanced, words, hasBoth, inPlace } = findReply(said);
  const host = HOST.exec(said)?.[1]?.toLowerCase() ?? null;
  const reply = {
    code: code ?? (enhanced?.startsWith("4") ? 450 : 550),
    part: partOf(said),
    recipients: 1,
    hosts: [host, recipient === null ? null : domainOf(recipient)].filter((one) => one !== null),
  };
  // Prefer the server's own reply; fall back to the text around it.
  const byReply =
    code === null || SENDER_CHECK.test(said)
      ? null
      : classifyEnd({ ...reply, text: `${enhanced ?? ""} ${words.split(END_OF_REPLY, 1)[0]}` });
  const evaluated =
    byReply?.row.words === undefined ? classifyEnd({ ...reply, text: `${enhanced ?? ""} ${said}` }) : byReply;
  const kind = kindOf(evaluated.cause);
  // Words without a trusted server or an SMTP reply behind them never unsubscribe a contact.
  const isProven =
    trusted ||
    hasBoth ||
    (inPlace !== null && classifyEnd({ ...reply, text: inPlace }).row.words !== undefined);
  return {
    status: {
      recipient,
      kind: kind === "hard-bounce" && !isProven ? "soft-bounce" : kind,
      reason: readText(said.replace(/\s+/g, " ").trim(), MAX_REASON_LENGTH),
      cause: evaluated.cause,
      refusedBy: evaluated.speaker ?? host,
    },
    isTelling: evaluated.row.words !== undefined || code !== null || enhanced !== null,
  };
}

/** The reply then quotes another reply, which is about our sender address. */
const SENDER_CHECK = /(?:callout|sender) verif/i;
const END_OF_REPLY = /\n\s{0,40}\n|\(in reply to/i;
const HOST =
  /(?:\bhost:? ?|\bwhile talking to |\bby |\bsmtp server ?<?)([a-z0-9][a-z0-9.-]{1,250}\.[a-z]{2,20})\b/i;
