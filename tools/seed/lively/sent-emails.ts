// Sends the emails of a history: what happened to each one, by the rules and in the words of the program.
import { EMAIL_KINDS, type EmailKind } from "@postloft/contract/emails.ts";
import * as names from "@postloft/contract/event-names.ts";
import { domainOf } from "@postloft/contract/address.ts";
import { numberOf, PIXEL_NUMBER } from "../../../server/src/rendering/link-target.ts";
import { notifyRejection } from "../../../server/src/transports/replies/told-refusals.ts";
import type { People, Person } from "./people.ts";
import type { Random } from "./random.ts";
import { instant, type Rows } from "./rows.ts";
import type { Timeline } from "./timeline.ts";

/** The parts that all emails of a template or campaign share. */
export interface Letter {
  kind: EmailKind;
  contentId: string;
  from: string;
  subject: string;
  /** The addresses of its links, the most attractive first. */
  links: readonly string[];
  campaignId?: string;
  templateId?: string;
  tags?: readonly string[];
  /** The share of recipients who open it, and the share of those who click. */
  opens: number;
  clicks: number;
}

interface Parts {
  random: Random;
  timeline: Timeline;
  rows: Rows;
  people: People;
}

interface Email {
  id: string;
  letter: Letter;
  person: Person;
  sentMs: number;
  workflow: { id: string; stepId: string } | undefined;
  status: "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED";
  times: Partial<
    Record<
      "delivered" | "opened" | "clicked" | "bounced" | "complained" | "soft_bounced" | "unsubscribed",
      number
    >
  >;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** Half of the people who open an email do so within this time. */
const OPENING_MEDIAN_MS = 40 * MINUTE_MS;
const CLICKING_MEDIAN_MS = 1.5 * MINUTE_MS;
const PRIVACY_PROXY = 0.14;
const SCANNER = 0.02;
const FULL_MAILBOX = 0.006;
/** One of so many emails of campaigns is reported as spam. */
const EMAILS_PER_COMPLAINT = 4_000;
const UNSUBSCRIBE = 0.012;
const SECOND_LINK = 0.3;
const NO_CAMPAIGN = "00000000-0000-0000-0000-000000000000";
/** The column with the reply of the mail server. */
const REPLY_COLUMN = "answer";
const NO_SUCH_USER = "550 5.1.1 The email account that you tried to reach does not exist";
const MAILBOX_FULL = "452 4.2.2 The recipient's mailbox is full";

/** Sends emails of campaigns, workflows and the shop. */
export class SentEmails {
  private readonly deps: Parts;
  private readonly emails: Email[] = [];
  private readonly suppressed = new Set<Person>();
  private readonly counts = new Map<string, { total: number; mails: number; machine: number }>();
  private listEmails = 0;

  constructor(deps: Parts) {
    this.deps = deps;
  }

  private count({ letter }: Email, number: number, what: "person" | "again" | "machine"): void {
    const key = `${letter.contentId} ${number} ${letter.campaignId ?? NO_CAMPAIGN}`;
    const before = this.counts.get(key) ?? { total: 0, mails: 0, machine: 0 };
    if (what === "machine") before.machine++;
    else before.total++;
    if (what === "person") before.mails++;
    this.counts.set(key, before);
  }

  private record(email: Email, name: string, atMs: number, more: object = {}): void {
    this.deps.rows.add("events", {
      id: this.deps.random.id(atMs),
      contact_id: email.person.id,
      name,
      data: { ...factsOf(email), ...more },
      email_id: email.id,
      created_at: instant(atMs),
    });
  }

  private bounce(email: Email, atMs: number): void {
    email.status = "BOUNCED";
    email.times.bounced = atMs;
    this.record(email, names.EMAIL_BOUNCE, atMs, { bounceType: "hard", ...rejectionOf(email, NO_SUCH_USER) });
    this.deps.people.unsubscribe(email.person, { atMs, source: "bounce", emailId: email.id });
    this.suppress(email, "HARD_BOUNCE", atMs);
  }

  private suppress({ id, person }: Email, reason: string, atMs: number): void {
    if (this.suppressed.has(person)) return;
    this.suppressed.add(person);
    this.deps.rows.add("suppressions", {
      id: this.deps.random.id(atMs),
      email: person.email,
      reason,
      email_id: id,
      actor: null,
      created_at: instant(atMs),
    });
  }

  private deliver(email: Email, atMs: number): void {
    const { letter, person, times } = email;
    email.status = "DELIVERED";
    times.delivered = atMs;
    this.record(email, names.EMAIL_DELIVERY, atMs);
    if (this.deps.random.chance(PRIVACY_PROXY)) this.visitAsMachine(email, names.EMAIL_MACHINE_OPEN, null);
    if (this.deps.random.chance(SCANNER))
      this.visitAsMachine(email, names.EMAIL_MACHINE_CLICK, letter.links[0] ?? null);
    if (letter.kind === "CAMPAIGN" && ++this.listEmails % EMAILS_PER_COMPLAINT === EMAILS_PER_COMPLAINT / 2)
      return void this.deps.timeline.at(atMs + this.deps.random.delay(OPENING_MEDIAN_MS), (ms) =>
        this.complain(email, ms),
      );
    if (this.deps.random.chance(Math.min(0.97, letter.opens * (0.4 + person.interest))))
      this.deps.timeline.at(atMs + this.deps.random.delay(OPENING_MEDIAN_MS), (ms) => this.open(email, ms));
  }

  private visitAsMachine(email: Email, name: string, link: string | null): void {
    this.deps.timeline.at(
      (email.times.delivered ?? 0) + this.deps.random.between(2, 20) * SECOND_MS,
      (ms) => {
        this.count(email, link === null ? PIXEL_NUMBER : numberOf(link, true), "machine");
        this.record(email, name, ms, { ...(link === null ? {} : { link }), isFirst: false, isMachine: true });
      },
    );
  }

  private complain(email: Email, atMs: number): void {
    email.status = "COMPLAINED";
    email.times.complained = atMs;
    this.record(email, names.EMAIL_COMPLAINT, atMs);
    this.deps.people.unsubscribe(email.person, { atMs, source: "complaint", emailId: email.id });
    this.suppress(email, "COMPLAINT", atMs);
  }

  private open(email: Email, atMs: number): void {
    const { letter, person, times } = email;
    email.status = "OPENED";
    times.opened = atMs;
    this.count(email, PIXEL_NUMBER, "person");
    this.record(email, names.EMAIL_OPEN, atMs, { isFirst: true, isMachine: false });
    if (this.deps.random.chance(0.25)) this.count(email, PIXEL_NUMBER, "again");
    const clicks =
      letter.links.length > 0 && this.deps.random.chance(letter.clicks * (0.4 + person.interest));
    if (clicks)
      this.deps.timeline.at(atMs + this.deps.random.delay(CLICKING_MEDIAN_MS), (ms) => this.click(email, ms));
    else if (letter.kind === "CAMPAIGN" && this.deps.random.chance(UNSUBSCRIBE))
      this.deps.timeline.at(atMs + this.deps.random.delay(CLICKING_MEDIAN_MS), (ms) => this.leave(email, ms));
  }

  private leave(email: Email, atMs: number): void {
    if (!email.person.subscribed) return;
    email.times.unsubscribed = atMs;
    const source = this.deps.random.chance(0.7) ? "one-click" : "page";
    this.deps.people.unsubscribe(email.person, { atMs, source, emailId: email.id });
  }

  private click(email: Email, atMs: number): void {
    email.status = "CLICKED";
    email.times.clicked = atMs;
    const [first = "", ...others] = email.letter.links;
    const isOther = others.length > 0 && this.deps.random.chance(SECOND_LINK);
    this.follow(email, isOther ? this.deps.random.pick(others) : first, atMs, true);
    if (isOther && this.deps.random.chance(SECOND_LINK))
      this.follow(email, first, atMs + this.deps.random.between(5, 50), false);
  }

  private follow(email: Email, link: string, atMs: number, isFirst: boolean): void {
    const number = numberOf(link, true);
    this.deps.rows.add("link_clicks", { email_id: email.id, number });
    this.count(email, number, "person");
    this.record(email, names.EMAIL_CLICK, atMs, { link, isFirst, isMachine: false });
  }

  /** Sends an email at a time and returns its ID. */
  send(letter: Letter, person: Person, atMs: number, workflow?: { id: string; stepId: string }): string {
    const email: Email = {
      id: this.deps.random.id(atMs),
      letter,
      person,
      sentMs: atMs,
      workflow,
      status: "SENT",
      times: {},
    };
    this.emails.push(email);
    const repliedMs = atMs + this.deps.random.between(1, 25) * SECOND_MS;
    if (person.isGone) this.deps.timeline.at(repliedMs, (ms) => this.bounce(email, ms));
    else if (this.deps.random.chance(FULL_MAILBOX))
      this.deps.timeline.at(repliedMs, (ms) => {
        email.times.soft_bounced = ms;
        this.record(email, names.EMAIL_BOUNCE, ms, {
          bounceType: "soft",
          ...rejectionOf(email, MAILBOX_FULL),
        });
      });
    else this.deps.timeline.at(repliedMs, (ms) => this.deliver(email, ms));
    return email.id;
  }

  /** Adds the rows of all emails, as they are at the end. */
  addRows(): void {
    for (const email of this.emails) this.deps.rows.add("emails", rowOf(email));
    for (const [key, numbers] of this.counts) {
      const [contentId, number, campaignId] = key.split(" ");
      this.deps.rows.add("tracking_counts", {
        content_id: contentId,
        number: Number(number),
        campaign_id: campaignId,
        ...numbers,
      });
    }
  }
}

/** Returns what the events of an email say about it, as `mailFacts` in server/src/emails does. */
function factsOf({ id, letter, workflow }: Email) {
  const { subject, from, kind, campaignId, templateId, tags } = letter;
  return {
    subject,
    from,
    messageId: `${id}@${domainOf(from)}`,
    emailId: id,
    sourceType: kind,
    ...(campaignId === undefined ? {} : { campaignId }),
    ...(workflow === undefined ? {} : { workflowId: workflow.id }),
    ...(templateId === undefined ? {} : { templateId }),
    ...(tags === undefined ? {} : { tags }),
  };
}

const rejectionOf = ({ person }: Email, reply: string) => ({
  reason: reply,
  ...notifyRejection(`RCPT: ${reply}`, domainOf(person.email)),
});

const time = (ms: number | undefined) => (ms === undefined ? null : instant(ms));

function rowOf({ id, letter, person, sentMs, workflow, status, times }: Email) {
  return {
    id,
    contact_id: person.id,
    content_id: letter.contentId,
    priority: EMAIL_KINDS.indexOf(letter.kind) + 1,
    status,
    to_address: person.email,
    attempts: 1,
    due_at: instant(sentMs),
    created_at: instant(sentMs),
    sent_at: instant(sentMs),
    transport: "mailbox",
    [REPLY_COLUMN]: "250 2.0.0 kept in the local mailbox",
    subject: letter.subject,
    campaign_id: letter.campaignId ?? null,
    template_id: letter.templateId ?? null,
    workflow_id: workflow?.id ?? null,
    workflow_step_id: workflow?.stepId ?? null,
    tags: letter.tags ?? null,
    delivered_at: time(times.delivered),
    opened_at: time(times.opened),
    clicked_at: time(times.clicked),
    bounced_at: time(times.bounced),
    complained_at: time(times.complained),
    soft_bounced_at: time(times.soft_bounced),
    unsubscribed_at: time(times.unsubscribed),
  };
}
