// Names of events that the service emits, and patterns that callers may not track (spec §4.1 rule 2, §6).

export const CONTACT_SUBSCRIBED = "contact.subscribed";
export const CONTACT_UNSUBSCRIBED = "contact.unsubscribed";
export const EMAIL_SENT = "email.sent";
export const EMAIL_DELIVERY = "email.delivery";
export const EMAIL_OPEN = "email.open";
export const EMAIL_CLICK = "email.click";
/** Machine activity has separate names, so that code waiting for a person never takes a machine for one. */
export const EMAIL_MACHINE_OPEN = "email.machine-open";
export const EMAIL_MACHINE_CLICK = "email.machine-click";
export const EMAIL_BOUNCE = "email.bounce";
export const EMAIL_COMPLAINT = "email.complaint";
export const EMAIL_RECEIVED = "email.received";
/** A workflow did not send an email because a limit was reached. */
export const EMAIL_SKIPPED = "email.skipped";

/**
 * Events of the project itself, which only its event stream has (docs/decisions/0141-events-of-the-project.md). The names are not reserved,
 * so callers may track events with them. Tracked events have a contact and `properties`.
 */
export type ProjectEventType =
  | "campaign.scheduled"
  | "campaign.unscheduled"
  | "campaign.started"
  | "campaign.paused"
  | "campaign.resumed"
  | "campaign.retried"
  | "campaign.cancelled"
  | "campaign.sent"
  | "domain.verified"
  | "domain.unverified"
  | "workflow.enabled"
  | "workflow.disabled"
  | "workflow.paused"
  | "workflow.resumed"
  | "workflow.failed";

/** Invisible formatting characters, which would make a name look like another one. */
const INVISIBLE = /\p{Cf}/gu;

/**
 * Returns whether a name belongs to the service: `email.*`, the two subscription events, `segment.<slug>.entry|exit`. Ignores case, outer
 * space, invisible characters and compatibility forms, so that no look-alike gets through.
 */
export function isReservedEventName(name: string): boolean {
  const plain = name.normalize("NFKC").replace(INVISIBLE, "").trim().toLowerCase();
  if (plain.startsWith("email.")) return true;
  if (plain === CONTACT_SUBSCRIBED || plain === CONTACT_UNSUBSCRIBED) return true;
  return plain.startsWith("segment.") && (plain.endsWith(".entry") || plain.endsWith(".exit"));
}

const EMITTED: ReadonlySet<string> = new Set([
  CONTACT_SUBSCRIBED,
  CONTACT_UNSUBSCRIBED,
  EMAIL_SENT,
  EMAIL_DELIVERY,
  EMAIL_OPEN,
  EMAIL_CLICK,
  EMAIL_MACHINE_OPEN,
  EMAIL_MACHINE_CLICK,
  EMAIL_BOUNCE,
  EMAIL_COMPLAINT,
  EMAIL_RECEIVED,
  EMAIL_SKIPPED,
]);

/** Returns the name of a tracked segment's entry or exit event. */
export function segmentEventName(slug: string, side: "entry" | "exit"): string {
  return `segment.${slug}.${side}`;
}

/** Returns whether an event with this name can ever happen. Either callers track it, or the service emits it in exactly this spelling. */
export function canHappen(name: string): boolean {
  return (
    !isReservedEventName(name) || EMITTED.has(name) || /^segment\.[\p{L}\p{Nd}-]+\.(entry|exit)$/u.test(name)
  );
}
