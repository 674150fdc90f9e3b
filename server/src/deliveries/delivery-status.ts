// The machine-readable parts of reports about mail: delivery status (RFC 3464), feedback of complaints (RFC 5965). Pure; nothing throws.
// Before it: returned-message.ts took the message apart. After it: rules.ts knows what each kind means.
import { rowOf, type Meaning } from "../emails/answers.ts";
import { readText } from "./read-report.ts";
import type { ReportKind } from "./rules.ts";

const MAX_LINES = 2_000;
const MAX_GROUPS = 100;
const MAX_VALUE_LENGTH = 2_000;

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
}

/** What a delivery status says of each recipient; what means nothing to us is left out. */
export function readDeliveryStatus(text: string): RecipientStatus[] {
  // The first group is about the message as a whole.
  return readFieldGroups(text).flatMap((group) => {
    const kind = kindOf(group);
    if (kind === null) return [];
    const words = [group.get("status"), group.get("diagnostic-code")].filter((word) => word !== undefined);
    return [
      {
        recipient: addressIn(group.get("original-recipient")) ?? addressIn(group.get("final-recipient")),
        kind,
        reason: readText(words.join(" "), 500),
      },
    ];
  });
}

/** What ended a mail at its last server, as the table of answers has it; what is only about us or the message bounces nobody. */
const KINDS: Readonly<Record<Meaning, ReportKind>> = {
  "hard-bounce": "hard-bounce",
  "soft-bounce": "soft-bounce",
  // Given up at last.
  temporary: "soft-bounce",
  throttled: "soft-bounce",
  unavailable: "soft-bounce",
  policy: "refused",
  message: "refused",
};

function kindOf(group: FieldGroup): ReportKind | null {
  switch (
    group
      .get("action")
      ?.toLowerCase()
      .split(/[\s(;]/)[0]
  ) {
    case "delivered":
      return "delivered";
    case "delayed":
      return "delayed";
    case "failed":
      return KINDS[meaningOf(group)];
    default:
      return null;
  }
}

/** `5.1.1`; `smtp; 550 5.1.1 no such user`, where the second code may be missing. */
const STATUS = /^([245])\.(\d{1,3})\.(\d{1,3})\b/;
const DIAGNOSTIC = /^smtp\s*;\s*([45]\d\d)[ -]*(?:([45]\.\d{1,3}\.\d{1,3})\b)?[ -]*([^]*)$/i;

/** The server's own words count more than the status that somebody made of them. */
function meaningOf(group: FieldGroup): Meaning {
  const status = STATUS.exec(group.get("status") ?? "");
  const [, code, enhanced, words = ""] = DIAGNOSTIC.exec(group.get("diagnostic-code") ?? "") ?? [];
  if (status === null && code === undefined) return "soft-bounce";
  // Delivered, says the status, and failed, says the action.
  if (status?.[1] === "2" && code === undefined) return "soft-bounce";
  const said = enhanced ?? (status !== null && status[1] !== "2" ? status[0] : "");
  return rowOf({
    code: code === undefined ? (status?.[1] === "4" ? 450 : 550) : Number(code),
    text: `${said} ${words}`,
    part: "rcpt",
    recipients: 1,
  }).meaning;
}

/** `rfc822; ada@example.com` */
function addressIn(field: string | undefined): string | null {
  const [, address] = /^[^;]*;\s*<?([^\s<>;]{1,320})>?/.exec(field ?? "") ?? [];
  return readText(address, 320);
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
