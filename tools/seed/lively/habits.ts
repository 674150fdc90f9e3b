// Simulates what contacts do on their own: they become active, come back, fill carts and order.
import type { Person } from "./people.ts";
import { DAY_MS } from "./people.ts";
import type { Random } from "./random.ts";
import { instant, type Rows } from "./rows.ts";
import type { Timeline } from "./timeline.ts";
import type { TrackedEvent } from "./workflow-runs.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const BECOMES_ACTIVE = 0.55;
const ORDERS_FROM_CART = 0.45;
const FORGETS_PASSWORD = 0.02;
/** More people are awake in the afternoon than at night, by hour (UTC). */
const AWAKE = [1, 1, 1, 1, 1, 2, 4, 7, 9, 10, 10, 9, 8, 9, 10, 10, 9, 9, 10, 11, 10, 7, 4, 2];
const MOST_AWAKE = Math.max(...AWAKE);

export interface Habits {
  /** Lets a new person do things from a time on. */
  begin(person: Person, atMs: number): void;
  /** Lets a person who signed up do things. */
  signUp(person: Person, atMs: number): void;
}

interface Consequences {
  happened(event: TrackedEvent): void;
  /** The shop sends a receipt, or a link for a new password. */
  order(person: Person, atMs: number): void;
  forget(person: Person, atMs: number): void;
}

export function createHabits(
  { random, timeline, rows }: { random: Random; timeline: Timeline; rows: Rows },
  { happened, order, forget }: Consequences,
): Habits {
  let orders = 1_000;

  function track(person: Person, name: string, atMs: number, data: TrackedEvent["data"] = {}): void {
    const id = random.id(atMs);
    rows.add("events", {
      id,
      contact_id: person.id,
      name,
      data: Object.keys(data).length === 0 ? null : data,
      email_id: null,
      created_at: instant(atMs),
    });
    happened({ id, name, person, atMs, data });
  }

  /** Returns a time after this many days when people are awake. */
  function later(atMs: number, days: number): number {
    const day = atMs + random.between(0.3, 1.7) * days * DAY_MS;
    for (;;) {
      const ms = Math.floor(day / DAY_MS) * DAY_MS + random.next() * DAY_MS;
      const isAwake = random.next() * MOST_AWAKE < (AWAKE[new Date(ms).getUTCHours()] ?? 0);
      if (isAwake) return Math.max(ms, atMs + MINUTE_MS);
    }
  }

  function visit(person: Person, atMs: number): void {
    track(person, "opened-app", atMs, { source: random.pick(["website", "app", "app"]) });
    if (random.chance(0.25 * person.interest))
      timeline.at(atMs + random.between(2, 20) * MINUTE_MS, (ms) => fillCart(person, ms));
    if (random.chance(FORGETS_PASSWORD)) forget(person, atMs);
    timeline.at(later(atMs, 3 + 12 * (1 - person.interest)), (ms) => visit(person, ms));
  }

  function fillCart(person: Person, atMs: number): void {
    const amount = Math.round(random.between(19, 240) * 100) / 100;
    track(person, "cart-updated", atMs, { amount, items: Math.round(random.between(1, 4)) });
    if (random.chance(ORDERS_FROM_CART))
      timeline.at(atMs + random.between(0.05, 6) * HOUR_MS, (ms) => {
        track(person, "order-placed", ms, { order: `${++orders}`, amount, currency: "EUR" });
        order(person, ms);
      });
  }

  function begin(person: Person, atMs: number): void {
    // Contacts whose mailbox is gone do nothing else, so that the shop doesn't email them again and again.
    if (!person.isGone) timeline.at(later(atMs, 6), (ms) => visit(person, ms));
  }

  return {
    begin,
    signUp(person, atMs) {
      track(person, "signed-up", atMs + 1, {
        source: random.pick(["website", "website", "friend", "advert"]),
      });
      if (random.chance(BECOMES_ACTIVE))
        timeline.at(atMs + random.delay(DAY_MS), (ms) => track(person, "activated", ms));
      begin(person, atMs);
    },
  };
}
