// Reads an Amazon SES notice: the email, the recipients and the kind of report. Pure; never throws.
import { domainOf } from "@postloft/contract/address.ts";
import { contentId, isId } from "../platform/ids.ts";
import { notifyCause } from "../transports/replies/replies.ts";
import { EMAIL_TAG, PROJECT_TAG } from "../transports/ses-tags.ts";
import type { MailNames } from "../emails/returned/returned-emails.ts";
import type { ReadablePart } from "./read-report.ts";
import { classifyGroup } from "./delivery-status.ts";
import { kindOf, type ReportKind } from "./rules.ts";
import { readInstant, readList, readObject, readText } from "../platform/foreign-values.ts";
import { readMessageId } from "./read-report.ts";

/** A report before its email is looked up. */
export interface Report {
  names: MailNames;
  /** Recipients it is about; null for the email as a whole. */
  recipients: readonly string[] | null;
  kind: ReportKind;
  at: Date | null;
  data: Record<string, unknown>;
  /** Text that a person may want to read. */
  kept?: ReadablePart;
}

export interface SesEvent {
  /** Its type, as SES writes it. */
  type: string;
  /** Identifies duplicates of the event; null if it lacks the necessary fields. */
  key: string | null;
  /** Empty for types that are unknown or irrelevant. Several if an email with copies bounced for more than one recipient. */
  reports: readonly Report[];
}

export interface SesRow {
  type: string;
  /** The key of the object with the details. */
  part: string;
  /** `bounceType`, `bounceSubType` and `complaintFeedbackType`, if they matter. */
  bounceType?: string;
  subTypes?: readonly string[];
  feedbackType?: string;
  /** Only this change of topics leaves the list. */
  unsubscribesAll?: true;
  /** SES rejected it by its own suppression list, so no server replied. */
  isOwnList?: true;
  /** null: acknowledged without effect. */
  kind: ReportKind | null;
}

/** Notices of event publishing (`eventType`) and feedback notifications (`notificationType`). The first matching row decides. */
export const SES_ROWS: readonly SesRow[] = [
  { type: "Send", part: "send", kind: "sent" },
  { type: "Delivery", part: "delivery", kind: "delivered" },
  { type: "DeliveryDelay", part: "deliveryDelay", kind: "delayed" },
  // These sub-types are about this message, regardless of `bounceType`.
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
  // Transient, Undetermined, and future types.
  { type: "Bounce", part: "bounce", kind: "soft-bounce" },
  { type: "Complaint", part: "complaint", feedbackType: "not-spam", kind: "not-spam" },
  { type: "Complaint", part: "complaint", kind: "complaint" },
  // Accepted but not sent, because of a virus or an SES template that failed to render.
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

/** Reads an SES event. Returns null if the text is not a JSON object. */
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

/** Returns one report per bounced address, because only the email's row knows the contact's own. */
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
    return { names, recipients: own, at, ...rejectionIn({ kind, isOwnList: row.isOwnList }, entry, data) };
  });
}

/** Classifies a bounce by the server's words, because SES also calls blocklists and disabled mailboxes permanent. */
function rejectionIn(
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
  const { cause, speaker, row } = classifyGroup(fields, domain === "" ? [] : [domain]);
  const reported = { ...data, ...notifyCause(cause, speaker ?? (domain === "" ? null : domain)) };
  if (isOwnList === true) return { kind, data: reported };
  if (row.words !== undefined && kindOf(cause) === "refused") return { kind: "refused", data: reported };
  return { kind: kindOf(cause) === "hard-bounce" ? kind : "soft-bounce", data: reported };
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

/** Identifies the email by our tags, which only event publishing includes, or by our Message-ID without the project. */
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

/** Returns the reason of a failure, or the user agent and link of an open or click. */
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
