// What Amazon SES says in a notice: which mail, whom, and which kind of report it is. Pure; nothing in it throws.
import { domainOf } from "@postloft/contract/address.ts";
import { contentId, isId } from "../platform/ids.ts";
import { tellCause } from "../transports/answers/answers.ts";
import { EMAIL_TAG, PROJECT_TAG } from "../transports/ses-tags.ts";
import type { MailNames } from "../emails/returned/returned-emails.ts";
import type { ReadablePart } from "./read-report.ts";
import { judgeGroup } from "./delivery-status.ts";
import { kindOf, type ReportKind } from "./rules.ts";
import { readInstant, readList, readObject, readText } from "../platform/foreign-values.ts";
import { readMessageId } from "./read-report.ts";

/** A report as it was told: about a mail that is still to be found. */
export interface Report {
  names: MailNames;
  /** Whom it speaks of; null: the mail as a whole. */
  recipients: readonly string[] | null;
  kind: ReportKind;
  at: Date | null;
  data: Record<string, unknown>;
  /** What a person may want to read of it. */
  kept?: ReadablePart;
}

export interface SesEvent {
  /** Its type, as SES writes it. */
  type: string;
  /** What makes two of them the same event; null when it does not say enough. */
  key: string | null;
  /** None: a type that means nothing for a mail, or one we do not know. Several: a mail with copies bounced for more than one. */
  reports: readonly Report[];
}

export interface SesRow {
  type: string;
  /** The object with what happened. */
  part: string;
  /** `bounceType`, and `bounceSubType`, `complaintFeedbackType`, when they matter. */
  bounceType?: string;
  subTypes?: readonly string[];
  feedbackType?: string;
  /** Of a change of topics: only this one leaves the list. */
  unsubscribesAll?: true;
  /** SES says it by a list of its own: no server was asked, so no server's words are about it. */
  isOwnList?: true;
  /** null: noted, and nothing is done. */
  kind: ReportKind | null;
}

/** What SES tells, by event publishing (`eventType`) and by feedback notifications (`notificationType`). The first row that fits decides. */
export const SES_ROWS: readonly SesRow[] = [
  { type: "Send", part: "send", kind: "sent" },
  { type: "Delivery", part: "delivery", kind: "delivered" },
  { type: "DeliveryDelay", part: "deliveryDelay", kind: "delayed" },
  // About this message, whatever the first word says.
  {
    type: "Bounce",
    part: "bounce",
    subTypes: ["MessageTooLarge", "ContentRejected", "AttachmentRejected"],
    kind: "refused",
  },
  {
    type: "Bounce",
    part: "bounce",
    subTypes: ["Suppressed", "OnAccountSuppressionList", "UnsubscribedRecipient"],
    isOwnList: true,
    kind: "hard-bounce",
  },
  { type: "Bounce", part: "bounce", bounceType: "Permanent", kind: "hard-bounce" },
  // Transient, Undetermined, and what may be added.
  { type: "Bounce", part: "bounce", kind: "soft-bounce" },
  { type: "Complaint", part: "complaint", feedbackType: "not-spam", kind: "not-spam" },
  { type: "Complaint", part: "complaint", kind: "complaint" },
  // Taken and then not sent: a virus, or a template of SES that could not be filled in.
  { type: "Reject", part: "reject", kind: "refused" },
  { type: "Rendering Failure", part: "failure", kind: "refused" },
  { type: "Open", part: "open", kind: "opened" },
  { type: "Click", part: "click", kind: "clicked" },
  { type: "Subscription", part: "subscription", unsubscribesAll: true, kind: "unsubscribed" },
  { type: "Subscription", part: "subscription", kind: null },
];

const MAX_RECIPIENTS = 100;
const MAX_LINK_LENGTH = 2_000;
const MAX_REASON_LENGTH = 500;

/** null when the text is no JSON object. */
export function readSesEvent(text: string): SesEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const event = readObject(value);
  if (event === null) return null;
  const type = readText(event["eventType"], 50) ?? readText(event["notificationType"], 50) ?? "";
  const row = SES_ROWS.find((one) => one.type === type && fits(one, readObject(event[one.part])));
  const mail = readObject(event["mail"]) ?? {};
  const part = readObject(event[row?.part ?? ""]) ?? {};
  const recipients = recipientsOf(part);
  const at = readInstant(part["timestamp"]) ?? readInstant(mail["timestamp"]);
  const providerId = readText(mail["messageId"], 200);
  const link = readText(part["link"], MAX_LINK_LENGTH);
  const identity = [type, providerId, at?.toISOString(), part["feedbackId"], recipients, link];
  const names = { ...namesOf(mail), providerId };
  return {
    type,
    key: row === undefined || providerId === null || at === null ? null : contentId(JSON.stringify(identity)),
    reports: row === undefined ? [] : reportsOf(row, part, { names, recipients, at }, link),
  };
}

/** One for each address that bounced: whose mail it is only its row knows. */
function reportsOf(
  row: SesRow,
  part: Record<string, unknown>,
  { names, recipients, at }: Pick<Report, "names" | "recipients" | "at">,
  link: string | null,
): Report[] {
  const { kind } = row;
  if (kind === null) return [];
  const bounced = readList(part["bouncedRecipients"]).slice(0, MAX_RECIPIENTS).map(readObject);
  const entries = bounced.length === 0 ? [null] : bounced;
  return entries.map((entry) => {
    const address = readText(entry?.["emailAddress"], 320);
    const own = bounced.length > 1 ? (address === null ? [] : [address]) : recipients;
    const data = dataOf(row, part, entry, link);
    return { names, recipients: own, at, ...refusalIn({ kind, isOwnList: row.isOwnList }, entry, data) };
  });
}

/** Amazon SES calls a blocklist permanent too, and a mailbox that is disabled: what the server said decides whether the address is gone. */
function refusalIn(
  { kind, isOwnList }: { kind: ReportKind; isOwnList: true | undefined },
  entry: Record<string, unknown> | null,
  data: Record<string, unknown>,
): Pick<Report, "kind" | "data"> {
  if (kind !== "hard-bounce" && kind !== "soft-bounce") return { kind, data };
  const diagnostic = readText(entry?.["diagnosticCode"], MAX_REASON_LENGTH);
  const status = readText(entry?.["status"], 20) ?? "";
  if (diagnostic === null && !/^[45]\.\d/.test(status)) return { kind, data };
  const domain = domainOf(readText(entry?.["emailAddress"], 320) ?? "");
  const fields = new Map([
    ["status", status],
    ["diagnostic-code", diagnostic ?? ""],
  ]);
  const { cause, speaker, row } = judgeGroup(fields, domain === "" ? [] : [domain]);
  const told = { ...data, ...tellCause(cause, speaker ?? (domain === "" ? null : domain)) };
  if (isOwnList === true) return { kind, data: told };
  if (row.words !== undefined && kindOf(cause) === "refused") return { kind: "refused", data: told };
  return { kind: kindOf(cause) === "hard-bounce" ? kind : "soft-bounce", data: told };
}

function fits(row: SesRow, part: Record<string, unknown> | null): boolean {
  if (row.bounceType !== undefined && part?.["bounceType"] !== row.bounceType) return false;
  if (row.subTypes !== undefined && !row.subTypes.some((one) => part?.["bounceSubType"] === one))
    return false;
  if (row.feedbackType !== undefined && part?.["complaintFeedbackType"] !== row.feedbackType) return false;
  return (
    row.unsubscribesAll !== true || readObject(part?.["newTopicPreferences"])?.["unsubscribeAll"] === true
  );
}

/** By the tags we sent, which only event publishing has; else by our Message-ID, without the project. */
function namesOf(mail: Record<string, unknown>): { projectId: string | null; emailId: string | null } {
  const tags = readObject(mail["tags"]) ?? {};
  const idIn = (tag: string) => {
    const text = readText(readList(tags[tag])[0], 36) ?? "";
    return isId(text) ? text.toLowerCase() : null;
  };
  const emailId = idIn(EMAIL_TAG);
  const projectId = idIn(PROJECT_TAG);
  if (emailId !== null && projectId !== null) return { projectId, emailId };
  const headers = readList(mail["headers"]).map(readObject);
  const header = headers.find((one) => readText(one?.["name"], 100)?.toLowerCase() === "message-id");
  const common = readObject(mail["commonHeaders"])?.["messageId"];
  return { projectId: null, emailId: readMessageId(header?.["value"]) ?? readMessageId(common) };
}

function recipientsOf(part: Record<string, unknown>): string[] | null {
  const named = ["bouncedRecipients", "complainedRecipients", "delayedRecipients"].flatMap((name) =>
    readList(part[name]).map((one) => readObject(one)?.["emailAddress"]),
  );
  const texts = [...readList(part["recipients"]), ...named]
    .slice(0, MAX_RECIPIENTS)
    .flatMap((one) => readText(one, 320) ?? []);
  return texts.length === 0 ? null : texts;
}

/** Why a mail did not arrive; who opened it with which program, and where a link led. */
function dataOf(
  row: SesRow,
  part: Record<string, unknown>,
  entry: Record<string, unknown> | null,
  link: string | null,
): Record<string, unknown> {
  if (row.kind === "opened" || row.kind === "clicked") {
    const userAgent = readText(part["userAgent"], MAX_REASON_LENGTH);
    return { ...(link === null ? {} : { link }), ...(userAgent === null ? {} : { userAgent }) };
  }
  const words = [
    part["bounceType"],
    part["bounceSubType"],
    part["complaintFeedbackType"],
    part["reason"],
    part["errorMessage"],
    entry?.["diagnosticCode"],
  ].flatMap((word) => readText(word, MAX_REASON_LENGTH) ?? []);
  const isBad = ["Bounce", "Complaint", "Reject", "Rendering Failure"].includes(row.type);
  return isBad && words.length > 0 ? { reason: words.join(" ").slice(0, MAX_REASON_LENGTH) } : {};
}
