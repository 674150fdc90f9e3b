// Reads the machine-readable parts of reports: delivery status (RFC 3464) and complaint feedback (RFC 5965). Pure; never throws.
import { domainOf } from "@postloft/contract/address.ts";
import { classifyEnd, type RepliedPart, type Cause } from "../transports/replies/replies.ts";
import { readText } from "../platform/foreign-values.ts";
import { kindOf, type ReportKind } from "./rules.ts";
import { findReply, partOf } from "./told-reply.ts";

const MAX_LINES = 2_000;
const MAX_GROUPS = 100;
const MAX_VALUE_LENGTH = 2_000;
const MAX_REASON_LENGTH = 500;

/** Fields by lower-case name. The first occurrence of a repeated field wins. */
export type FieldGroup = ReadonlyMap<string, string>;

/** Returns groups of header fields separated by empty lines, with folded lines joined. */
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
  /** The original recipient if the report names it, otherwise the final one. */
  recipient: string | null;
  kind: ReportKind;
  /** Status and reply as reported. */
  reason: string | null;
  /** Why the email was rejected and by which server, as far as the report says. */
  cause: Cause | null;
  refusedBy: string | null;
}

/** The text for people next to the fields, used when the fields say nothing. */
export interface HumanText {
  text: string;
  part: RepliedPart;
}

/** Returns the outcome of each recipient. Skips actions that mean nothing to us. */
export function readDeliveryStatus(text: string, beside?: HumanText): RecipientStatus[] {
  const groups = readFieldGroups(text);
  // The first group describes the message as a whole.
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
    const { cause, speaker } = classifyGroup(group, hosts, beside);
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
/** PowerMTA's bounce categories (from its user's guide) in the words of our rule table. */
const CATEGORIES: Readonly<Record<string, string | undefined>> = {
  __proto__: null as never,
  "bad-mailbox": "5.1.1 no such user",
  "bad-domain": "5.1.2 unknown host",
  "inactive-mailbox": "5.2.1 account disabled",
  "quota-issues": "5.2.2 mailbox full",
};
/** Dovecot gives the reason only in the text for people. */
const REJECTED = /was automatically rejected:/i;
/** A prefix that some servers put before the reply they received: `5.1.0 - Unknown address error 550-'…'` */
const WRAPPED = /^[45]\.\d{1,3}\.\d{1,3} - [a-z -]{1,60}(?=[45]\d\d)/i;

/** Classifies why an email did not arrive. The server's own words outrank the status that other software derived from them. */
export function classifyGroup(group: FieldGroup, hosts: readonly string[], beside?: HumanText) {
  const status = STATUS.exec(group.get("status") ?? "");
  const diagnostic = (group.get("diagnostic-code") ?? "").replace(DIAGNOSTIC_TYPE, "").replace(WRAPPED, "");
  const reported = findReply(diagnostic);
  const part = partOf(diagnostic);
  const said = status !== null && status[1] !== "2" ? status[0] : "";
  const reply = {
    code: reported.code ?? (status?.[1] === "4" ? 450 : 550),
    // Software that assigns X.1 knows that a recipient was rejected. Other classes may be made up.
    text: `${reported.enhanced ?? (said.startsWith("5.1.") ? said : "")} ${reported.words}`,
    part: part === "unknown" ? (beside?.part ?? "unknown") : part,
    recipients: 1,
    hosts,
  };
  if (beside !== undefined && REJECTED.test(beside.text)) {
    const byPerson = classifyEnd({ ...reply, text: beside.text });
    if (byPerson.row.words !== undefined) return byPerson;
  }
  const category = CATEGORIES[group.get("x-powermta-bouncecategory")?.toLowerCase() ?? ""];
  if (category !== undefined) {
    const sorted = classifyEnd({ ...reply, text: category });
    const own = classifyEnd(reply);
    // PowerMTA knows the SMTP step, but replies about our sender stay classified as such.
    if (own.row.words === undefined || kindOf(own.cause) !== "refused") return sorted;
  }
  const byWords = classifyEnd(reply);
  if (reported.enhanced !== null || (reported.code !== null && byWords.row.words !== undefined))
    if (byWords.row.words !== undefined || byWords.row.status !== undefined) return byWords;
  const evaluated = classifyEnd({ ...reply, text: `${reported.enhanced ?? said} ${reported.words}` });
  if (
    evaluated.row.words !== undefined ||
    (evaluated.row.status ?? "none") !== "none" ||
    beside === undefined
  )
    return evaluated;
  // Fall back to the text for people because neither words nor codes of the fields matched.
  const again = classifyEnd({ ...reply, text: `${reply.text} ${beside.text}` });
  return again.row.words === undefined ? evaluated : again;
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
  /** The envelope sender of the email in the complaint. */
  returnPath: string | null;
  recipient: string | null;
  reason: string | null;
}

/** RFC 5965 §3.5 and the registry of feedback types. Types such as `auth-failure` and `dmarc` are no complaints and return null. */
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

/** Returns an address without its optional angle brackets. */
export function bareAddress(text: string | undefined): string | null {
  return readText(/^<?([^\s<>]{1,320})>?/.exec(text?.trim() ?? "")?.[1], 320);
}
