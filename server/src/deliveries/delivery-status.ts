// The machine-readable parts of reports about mail: delivery status (RFC 3464), feedback of complaints (RFC 5965). Pure; nothing throws.
import { domainOf } from "@postloft/contract/address.ts";
import { judgeEnd, type AnsweredPart, type Cause } from "../transports/answers/answers.ts";
import { readText } from "../platform/foreign-values.ts";
import { kindOf, type ReportKind } from "./rules.ts";
import { findReply, partOf } from "./told-reply.ts";

const MAX_LINES = 2_000;
const MAX_GROUPS = 100;
const MAX_VALUE_LENGTH = 2_000;
const MAX_REASON_LENGTH = 500;

/** Fields by lower-case name; of a repeated one the first. */
export type FieldGroup = ReadonlyMap<string, string>;

/** Groups of header fields with empty lines between them, folded lines joined. */
export function readFieldGroups(text: string): FieldGroup[] {
  const groups: Array<Map<string, string>> = [new Map()];
  let last = "";
  for (const line of text.split(/\r\n|\r|\n/, MAX_LINES)) {
    const group = groups.at(-1) ?? new Map<string, string>();
    if (line.trim() === "") {
      if (group.size > 0 && groups.length >= MAX_GROUPS) break;
      if (group.size > 0) groups.push(new Map());
      last = "";
      continue;
    }
    if (/^[ \t]/.test(line)) {
      if (last !== "") group.set(last, `${group.get(last) ?? ""} ${line.trim()}`.slice(0, MAX_VALUE_LENGTH));
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    last = colon > 0 && !group.has(name) ? name : "";
    if (last !== "")
      group.set(
        last,
        line
          .slice(colon + 1)
          .trim()
          .slice(0, MAX_VALUE_LENGTH),
      );
  }
  return groups.filter((group) => group.size > 0);
}

export interface RecipientStatus {
  /** The address as the mail was sent to it, where that is told; else where it ended up. */
  recipient: string | null;
  kind: ReportKind;
  /** Status and answer, as they were told. */
  reason: string | null;
  /** Why it was refused, and by whom, as far as that is told. */
  cause: Cause | null;
  refusedBy: string | null;
}

/** What a person is told beside the fields; it counts where they say nothing. */
export interface BesideText {
  text: string;
  part: AnsweredPart;
}

/** What a delivery status says of each recipient; what means nothing to us is left out. */
export function readDeliveryStatus(text: string, beside?: BesideText): RecipientStatus[] {
  const groups = readFieldGroups(text);
  // The first group is about the message as a whole.
  const reportingHost = groups.map((group) => group.get("reporting-mta")).find((mta) => mta !== undefined);
  return groups.flatMap((group): RecipientStatus[] => {
    const recipient = addressIn(group.get("original-recipient")) ?? addressIn(group.get("final-recipient"));
    const words = [group.get("status"), group.get("diagnostic-code")].filter((word) => word !== undefined);
    const reason = readText(words.join(" "), MAX_REASON_LENGTH);
    const kind =
      ACTIONS[
        group
          .get("action")
          ?.toLowerCase()
          .split(/[\s(;]/)[0] ?? ""
      ];
    if (kind === undefined) return [];
    if (kind !== "failed") return [{ recipient, kind, reason, cause: null, refusedBy: null }];
    const remote = hostIn(group.get("remote-mta"));
    const hosts = [
      remote,
      recipient === null ? null : domainOf(recipient).toLowerCase(),
      hostIn(reportingHost),
    ].filter((host) => host !== null);
    const { cause, speaker } = judgeGroup(group, hosts, beside);
    return [
      {
        recipient,
        kind: kindOf(cause),
        reason: reason ?? readText(beside?.text.replace(/\s+/g, " "), MAX_REASON_LENGTH),
        cause,
        refusedBy: speaker ?? remote ?? hosts[0] ?? null,
      },
    ];
  });
}

/** RFC 3464 §2.3.3; `expired` is SendGrid's. */
const ACTIONS: Readonly<Record<string, "failed" | "delivered" | "delayed" | undefined>> = {
  __proto__: null as never,
  failed: "failed",
  expired: "failed",
  delivered: "delivered",
  delayed: "delayed",
};

/** `5.1.1`; `smtp; 550 5.1.1 no such user`, where the second code may be missing. */
const STATUS = /^([245])\.(\d{1,3})\.(\d{1,3})\b/;
const DIAGNOSTIC_TYPE = /^[a-z0-9-]{1,40}\s{0,3};\s*/i;
/** How PowerMTA sorts what it was answered (its user's guide), in words of the table. */
const CATEGORIES: Readonly<Record<string, string | undefined>> = {
  __proto__: null as never,
  "bad-mailbox": "5.1.1 no such user",
  "bad-domain": "5.1.2 unknown host",
  "inactive-mailbox": "5.2.1 account disabled",
  "quota-issues": "5.2.2 mailbox full",
};
/** Dovecot tells the reason to people alone. */
const REJECTED = /was automatically rejected:/i;
/** What some servers write before the words they were given: `5.1.0 - Unknown address error 550-'…'` */
const WRAPPED = /^[45]\.\d{1,3}\.\d{1,3} - [a-z -]{1,60}(?=[45]\d\d)/i;

/** Why a mail did not arrive; the server's own words count more than the status that somebody made of them. */
export function judgeGroup(group: FieldGroup, hosts: readonly string[], beside?: BesideText) {
  const status = STATUS.exec(group.get("status") ?? "");
  const diagnostic = (group.get("diagnostic-code") ?? "").replace(DIAGNOSTIC_TYPE, "").replace(WRAPPED, "");
  const told = findReply(diagnostic);
  const part = partOf(diagnostic);
  const said = status !== null && status[1] !== "2" ? status[0] : "";
  const answer = {
    code: told.code ?? (status?.[1] === "4" ? 450 : 550),
    // Software that maps X.1 itself knows that a recipient was refused; other classes it may have made up.
    text: `${told.enhanced ?? (said.startsWith("5.1.") ? said : "")} ${told.words}`,
    part: part === "unknown" ? (beside?.part ?? "unknown") : part,
    recipients: 1,
    hosts,
  };
  if (beside !== undefined && REJECTED.test(beside.text)) {
    const byPerson = judgeEnd({ ...answer, text: beside.text });
    if (byPerson.row.words !== undefined) return byPerson;
  }
  const category = CATEGORIES[group.get("x-powermta-bouncecategory")?.toLowerCase() ?? ""];
  if (category !== undefined) {
    const sorted = judgeEnd({ ...answer, text: category });
    const own = judgeEnd(answer);
    // PowerMTA knows the step; what speaks of us stays about us.
    if (own.row.words === undefined || kindOf(own.cause) !== "refused") return sorted;
  }
  const byWords = judgeEnd(answer);
  if (told.enhanced !== null || (told.code !== null && byWords.row.words !== undefined))
    if (byWords.row.words !== undefined || byWords.row.status !== undefined) return byWords;
  const judged = judgeEnd({ ...answer, text: `${told.enhanced ?? said} ${told.words}` });
  if (judged.row.words !== undefined || (judged.row.status ?? "none") !== "none" || beside === undefined)
    return judged;
  // Neither a word nor a code of the fields says anything: what a person is told may.
  const again = judgeEnd({ ...answer, text: `${answer.text} ${beside.text}` });
  return again.row.words === undefined ? judged : again;
}

/** `rfc822; ada@example.com` */
function addressIn(field: string | undefined): string | null {
  const [, address] = /^[^;]*;\s*<?([^\s<>;]{1,320})>?/.exec(field ?? "") ?? [];
  return readText(address, 320);
}

/** `dns; mx.example.com (192.0.2.1)` */
function hostIn(field: string | undefined): string | null {
  const [, host] = /^(?:[^;]{0,40};)?\s*([a-z0-9.-]{1,255}[a-z0-9])/i.exec(field ?? "") ?? [];
  return host === undefined || !host.includes(".") ? null : host.toLowerCase();
}

export interface Feedback {
  kind: ReportKind;
  /** The envelope sender of the mail that is complained about. */
  returnPath: string | null;
  recipient: string | null;
  reason: string | null;
}

/** RFC 5965 §3.5 and the registry of feedback types; null: no complaint about a mail (`auth-failure`, `dmarc`). */
const FEEDBACK_KINDS: Readonly<Record<string, ReportKind>> = {
  abuse: "complaint",
  fraud: "complaint",
  virus: "complaint",
  other: "complaint",
  "opt-out": "unsubscribed",
  "opt-out-list": "unsubscribed",
  "not-spam": "not-spam",
};

export function readFeedbackReport(text: string): Feedback | null {
  const [group] = readFieldGroups(text);
  const type = group?.get("feedback-type")?.toLowerCase() ?? "";
  const kind = Object.hasOwn(FEEDBACK_KINDS, type) ? FEEDBACK_KINDS[type] : undefined;
  if (group === undefined || kind === undefined) return null;
  return {
    kind,
    returnPath: bareAddress(group.get("original-mail-from")),
    recipient: bareAddress(group.get("original-rcpt-to")),
    reason: readText(`${type} ${group.get("user-agent") ?? ""}`, 500),
  };
}

/** Without the brackets an address may stand in. */
export function bareAddress(text: string | undefined): string | null {
  return readText(/^<?([^\s<>]{1,320})>?/.exec(text?.trim() ?? "")?.[1], 320);
}
