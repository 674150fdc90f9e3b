// The people of a project that never existed: who they are, when and how they came, and how they left.
import type { Random } from "./random.ts";
import { instant, type Rows } from "./rows.ts";
import type { Timeline } from "./timeline.ts";

export interface Person {
  id: string;
  email: string;
  data: Readonly<Record<string, string | number | boolean>>;
  /** From 0 to 1: how likely they open emails and buy. */
  interest: number;
  /** Whether their mailbox no longer exists. */
  isGone: boolean;
  subscribed: boolean;
}

export interface People {
  /** Everyone who has come so far. */
  readonly all: readonly Person[];
  /** Records that a person no longer wants marketing email, or cannot get it. */
  unsubscribe(person: Person, leaving: Leaving): void;
}

export interface Leaving {
  atMs: number;
  source: "one-click" | "page" | "bounce" | "complaint" | "dashboard";
  emailId: string | null;
}

export const DAY_MS = 86_400_000;
export const HISTORY_DAYS = 90;
const CAME_ALONE = 620;
const IMPORTED = 260;
const IMPORT_DAY = 9;
/** The share of people who came through the sign-up form rather than the API. */
const BY_FORM = 0.6;
const GONE = 0.012;

const FIRST_NAMES =
  "Ada Alan Barbara Chen Claire Dennis Edsger Elena Fatima Frances Grace Guido Hedy Ines Ivan Jean John Katherine Ken Leslie Linus Lynn Margaret Mary Niklaus Olga Omar Priya Radia Rosa Sofia Sven Tim Tomas Ursula Vera Vint Wei Yuki Zoe".split(
    " ",
  );
const LAST_NAMES =
  "Allen Bauer Becker Bianchi Brown Costa Dubois Fischer Garcia Hansen Hoffmann Jansen Johnson Kim Kowalski Lambert Larsen Lee Lopez Martin Meyer Moreau Nakamura Novak Okafor Olsen Patel Petrov Rossi Santos Schmidt Silva Smith Tanaka Wagner Walker Wang Yilmaz".split(
    " ",
  );
const CITIES = "Berlin Lisbon London Lyon Madrid Milan Oslo Paris Vienna Warsaw Zurich".split(" ");
const PLANS = "free free free free pro pro team".split(" ");
/** Reserved for documentation (RFC 2606), so that no email ever reaches a real person. */
const DOMAINS = "example.com example.com example.org example.net".split(" ");
const FIELDS = {
  firstName: "string",
  lastName: "string",
  plan: "string",
  city: "string",
  seats: "number",
  vip: "boolean",
};
/** Events of contacts that say why they left. */
const REASONS: readonly string[] = ["bounce", "complaint"];

const habitsOf = (plan: string, random: Random) => ({
  city: random.pick(CITIES),
  seats: plan === "team" ? Math.round(random.between(3, 40)) : 1,
  vip: random.chance(0.04),
});

/**
 * Lets people come over time, more of them every week. One day an old list is imported.
 * @param onSignUp called for each person who came through the form or the API
 * @param onImport called for each person of the list
 */
export function createPeople(
  { random, timeline, rows }: { random: Random; timeline: Timeline; rows: Rows },
  onSignUp: (person: Person, atMs: number) => void,
  onImport: (person: Person, atMs: number) => void,
): People {
  const all: Person[] = [];
  const beginMs = timeline.endMs - HISTORY_DAYS * DAY_MS;
  for (const [field, type] of Object.entries(FIELDS)) rows.add("contact_fields", { field, type });

  function come(atMs: number, source: "import" | "page" | "api"): Person {
    const [firstName, lastName] = [random.pick(FIRST_NAMES), random.pick(LAST_NAMES)];
    const plan = random.pick(PLANS);
    const person: Person = {
      id: random.id(atMs),
      email: `${firstName}.${lastName}${all.length + 1}@${random.pick(DOMAINS)}`.toLowerCase(),
      data: { firstName, lastName, plan, ...habitsOf(plan, random) },
      interest: random.between(0.15, 1) * (source === "import" ? 0.7 : 1),
      isGone: random.chance(source === "import" ? 3 * GONE : GONE),
      subscribed: true,
    };
    all.push(person);
    rows.add("consent_changes", {
      contact_id: person.id,
      id: person.id,
      subscribed: true,
      source,
      actor: source === "api" ? "key" : null,
      ip: source === "page" ? `203.0.113.${Math.floor(random.between(1, 250))}` : null,
      email_id: null,
      created_at: instant(atMs),
    });
    return person;
  }

  for (let at = 0; at < CAME_ALONE; at++)
    timeline.at(beginMs + Math.sqrt((at + random.next()) / CAME_ALONE) * HISTORY_DAYS * DAY_MS, (ms) =>
      onSignUp(come(ms, random.chance(BY_FORM) ? "page" : "api"), ms),
    );
  timeline.at(beginMs + IMPORT_DAY * DAY_MS, (ms) => {
    for (let at = 0; at < IMPORTED; at++) onImport(come(ms + at, "import"), ms + at);
  });

  return {
    all,
    unsubscribe(person, { atMs, source, emailId }) {
      if (!person.subscribed) return;
      person.subscribed = false;
      const id = random.id(atMs);
      rows.add("consent_changes", {
        contact_id: person.id,
        id,
        subscribed: false,
        source,
        actor: null,
        ip: source === "page" ? "203.0.113.7" : null,
        email_id: emailId,
        created_at: instant(atMs),
      });
      rows.add("events", {
        id: random.id(atMs),
        contact_id: person.id,
        name: "contact.unsubscribed",
        data: REASONS.includes(source) ? { reason: source } : null,
        email_id: null,
        created_at: instant(atMs),
      });
    },
  };
}

/** Adds the rows of everyone, as they are at the end. */
export function addContacts(rows: Rows, people: readonly Person[], timeOf: (id: string) => number): void {
  for (const { id, email, data, subscribed } of people) {
    const createdAt = instant(timeOf(id));
    rows.add("contacts", { id, email, data, subscribed, created_at: createdAt, updated_at: createdAt });
  }
}
