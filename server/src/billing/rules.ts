// Interprets Stripe subscriptions and events. Pure.

export interface Subscription {
  id: string;
  /** The status at Stripe: `active`, `past_due`, `canceled`, … */
  status: string;
}

/** Final statuses. */
export const OVER: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);

/** Events after which the subscription may be a different one. */
const NOTIFYING = /^(customer\.subscription\.|checkout\.session\.completed$|invoice\.(paid|payment_failed)$)/;

export function isRunning(status: string): boolean {
  return !OVER.has(status);
}

/** Returns the relevant subscription of a customer: the running one, or else the newest. Null if there is none. */
export function choose(list: ReadonlyArray<Subscription & { created: number }>): Subscription | null {
  const [first] = list.toSorted(
    (one, other) =>
      Number(isRunning(other.status)) - Number(isRunning(one.status)) || other.created - one.created,
  );
  return first === undefined ? null : { id: first.id, status: first.status };
}

/** Returns the customer that an event affects, or null for irrelevant events. */
export function customerOf({
  type,
  data,
}: {
  type: string;
  data: { object: { customer?: unknown } };
}): string | null {
  const { customer } = data.object;
  return NOTIFYING.test(type) && typeof customer === "string" ? customer : null;
}
