// Adds what came from outside: API requests, calls of webhook endpoints, and emails that people wrote.
import { EMAIL_RECEIVED } from "@postloft/contract/event-names.ts";
import { DAY_MS, type Person } from "./people.ts";
import type { Random } from "./random.ts";
import { instant, type Rows } from "./rows.ts";

const QUESTIONS = [
  ["Where is my order?", "Hello,\n\nit is a week now. Can you find out where my parcel is?\n\nThank you!"],
  ["Wrong color", "Hi,\n\nI ordered the lamp in white and got it in black. What should I do?"],
  ["Invoice", "Could you please send an invoice with our VAT number?"],
  ["Thank you", "The lamp is beautiful. Thank you for the quick delivery!"],
  ["A question about the bulbs", "Do they fit into a socket from 1970?"],
] as const;

const REQUESTS = 160;
const REQUEST_DAYS = 3;
const ROUTES = [
  ["POST", "/v1/track", 200, null],
  ["POST", "/v1/track", 200, null],
  ["POST", "/v1/track", 200, null],
  ["POST", "/v1/send", 200, null],
  ["POST", "/contacts", 201, null],
  ["GET", "/campaigns", 200, null],
  ["GET", "/contacts", 200, null],
  ["POST", "/v1/send", 422, "VALIDATION_ERROR"],
  ["GET", "/contacts/:id", 404, "CONTACT_NOT_FOUND"],
] as const;

/** Adds the requests of a program of the project. */
export function addRequests(rows: Rows, random: Random, endMs: number): void {
  for (let at = 0; at < REQUESTS; at++) {
    const ms = endMs - ((REQUESTS - at) / REQUESTS) * REQUEST_DAYS * DAY_MS + random.next() * 1_000;
    const [method, route, status, code] = random.pick(
      random.chance(0.08) ? ROUTES.slice(-2) : ROUTES.slice(0, -2),
    );
    const id = random.id(ms);
    rows.add("api_requests", {
      id,
      request_id: random.id(ms),
      at: instant(ms),
      method,
      path: route.replace(":id", id),
      route,
      status,
      error_code: code,
      duration_ms: Math.round(random.delay(9)) + 2,
      key: "secret",
      ip: "198.51.100.23",
      user_agent: "nordlicht-shop/2.4",
      body: null,
      body_bytes: method === "GET" ? 0 : Math.round(random.between(90, 400)),
      left_out: 0,
    });
  }
}

/** An event that an endpoint wanted. */
export interface Wanted {
  id: string;
  name: string;
  person: Person;
  atMs: number;
  data: object;
}

/**
 * Adds the calls that an endpoint received for events, with their numbers in the event log. One in thirty was refused and not repeated.
 * @returns the last number
 */
export function addDeliveries(
  { rows, random }: { rows: Rows; random: Random },
  endpointId: string,
  lastNumber: number,
  events: readonly Wanted[],
): number {
  let number = lastNumber;
  for (const { id, name, person, atMs, data } of events) {
    number++;
    const isRefused = random.chance(1 / 30);
    rows.add("event_log", {
      number,
      id,
      type: name,
      contact_id: person.id,
      data: { contact: { id: person.id, email: person.email }, emailId: null, properties: data },
      created_at: instant(atMs),
      recorded_at: instant(atMs),
    });
    const tookMs = Math.round(random.delay(90)) + 20;
    rows.add("event_deliveries", {
      id: random.id(atMs),
      endpoint_id: endpointId,
      number,
      previous: number - 1,
      state: isRefused ? "failed" : "done",
      tries: 1,
      due_at: null,
      response_status: isRefused ? 410 : 200,
      response_body: isRefused ? "gone" : "ok",
      error: isRefused ? "The endpoint responded with 410." : null,
      duration_ms: tookMs,
      created_at: instant(atMs),
      ended_at: instant(atMs + tookMs),
    });
  }
  return number;
}

/** Adds an email that a person wrote, about an email of the project. */
export function addReceived(
  { rows, random }: { rows: Rows; random: Random },
  { person, emailId, from, atMs }: { person: Person; emailId: string; from: string; atMs: number },
): void {
  const [subject, text] = random.pick(QUESTIONS);
  const id = random.id(atMs);
  const messageId = `${id}@${person.email.split("@")[1] ?? ""}`;
  const answered = `${emailId}@${from.split("@")[1] ?? ""}`;
  const name = `${person.data["firstName"]} ${person.data["lastName"]}`;
  const raw = [
    `From: ${name} <${person.email}>`,
    `To: ${from}`,
    `Subject: ${subject}`,
    `Message-ID: <${messageId}>`,
    `In-Reply-To: <${answered}>`,
    `Date: ${new Date(atMs).toUTCString()}`,
    "Content-Type: text/plain; charset=utf-8",
    "",
    text,
    "",
  ]
    .join("\r\n")
    .replaceAll(/\r?\n/g, "\r\n");
  rows.add("received_emails", {
    id,
    contact_id: person.id,
    thread_id: emailId,
    email_id: emailId,
    recipient: from,
    from_address: person.email,
    from_name: name,
    subject,
    message_id: messageId,
    reference_ids: [answered],
    raw: `\\x${Buffer.from(raw).toString("hex")}`,
    received_at: instant(atMs),
  });
  rows.add("events", {
    id: random.id(atMs),
    contact_id: person.id,
    name: EMAIL_RECEIVED,
    data: { subject, address: from, receivedEmailId: id },
    email_id: null,
    created_at: instant(atMs),
  });
}
