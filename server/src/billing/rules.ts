// What a subscription of Stripe is to us. Pure.

export interface Subscription {
  id: string;
  /** As Stripe calls it: `active`, `past_due`, `canceled`, … */
  status: string;
}

/** From here none comes back. */
export const OVER: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);

/** What Stripe tells when a subscription may be another one than it was. */
const TELLING = /^(customer\.subscription\.|checkout\.session\.completed$|invoice\.(paid|payment_failed)$)/;

export function isRunning(status: string): boolean {
  return !OVER.has(status);
}

/** Of the subscriptions of one customer the one that counts: that which runs, else the newest; null: there is none. */
export function choose(list: ReadonlyArray<Subscription & { created: number }>): Subscription | null {
  const [first] = list.toSorted(
    (one, other) =>
      Number(isRunning(other.status)) - Number(isRunning(one.status)) || other.created - one.created,
  );
  return first === undefined ? null : { id: first.id, status: first.status };
}

/** The customer an event makes us ask about; null when it means nothing to us. */
export function customerOf({
  type,
  data,
}: {
  type: string;
  data: { object: { customer?: unknown } };
}): string | null {
  const { customer } = data.object;
  return TELLING.test(type) && typeof customer === "string" ? customer : null;
}
