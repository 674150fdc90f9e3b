// Tests which emails a sender holds and starts. It must start none twice, forget none and start none after it stops.
import { expect, test } from "vitest";
import { BATCH_SIZE } from "../outbox/batch-queries.ts";
import { createDestinationLimits } from "./destination-limits.ts";
import { createSenderState, type SenderState } from "./sender-state.ts";

interface Row {
  id: string;
  priority: number;
  toAddress: string;
}
type State = SenderState<Row, { row: Row }>;

const rowOf = (id: string, domain = "a.example"): Row => ({ id, priority: 3, toAddress: `ada@${domain}` });
const stateOf = (connections: number): State =>
  createSenderState(connections, createDestinationLimits(connections));

/** Admits emails and moves them all into the ready queue. */
function makeReady(state: State, ...rows: readonly Row[]): void {
  const batch = state.admit(rows);
  if (batch === null) throw new Error("in hand already");
  for (const row of batch.rows) state.ready(batch, { row });
  state.prepared(batch);
}

function next(state: State): NonNullable<ReturnType<State["next"]>> {
  const taken = state.next();
  if (taken === undefined) throw new Error("nothing may begin");
  return taken;
}

test("does not start an email again before it has ended", () => {
  const state = stateOf(1);
  const row = rowOf("1");
  makeReady(state, row);
  expect(state.admit([row])).toBeNull();
  const { mail, answered } = next(state);
  expect(state.admit([row])).toBeNull();
  answered("taken");
  expect(state.admit([row, rowOf("2")])?.rows).toEqual([rowOf("2")]);
  state.ended(mail, "booked");
  expect(state.admit([row])?.rows).toEqual([row]);
});

test("keeps an email with an unrecorded result without waiting for it", () => {
  const state = stateOf(1);
  makeReady(state, rowOf("1"));
  const { mail, answered } = next(state);
  answered("unknown");
  expect(state.isIdle()).toBe(false);
  state.ended(mail, "unbooked");
  expect([state.isIdle(), state.inHand(), state.takeFault()]).toEqual([true, ["1"], false]);
  expect(state.admit([rowOf("1")])).toBeNull();
});

test("drops a withdrawn email and reports a fault once", () => {
  const state = stateOf(1);
  makeReady(state, rowOf("1"));
  const { mail, answered } = next(state);
  answered("unknown");
  state.ended(mail, "withdrawn");
  expect([state.inHand(), state.takeFault(), state.takeFault()]).toEqual([[], true, false]);
});

test("drops unprepared emails with their batch and keeps the ones claimed again", () => {
  const state = stateOf(1);
  const batch = state.admit([rowOf("1"), rowOf("2")]);
  if (batch === null) throw new Error("in hand already");
  state.ready(batch, { row: rowOf("1") });
  const { mail, answered } = next(state);
  answered("unknown");
  state.ended(mail, "withdrawn");
  expect(state.admit([rowOf("1")])).not.toBeNull();
  state.prepared(batch);
  expect(state.inHand()).toEqual(["1"]);
});

test("limits submissions to the connections and frees one before the result is recorded", () => {
  const state = stateOf(2);
  makeReady(state, ...["1", "2", "3"].map((id) => rowOf(id, `${id}.example`)));
  const { answered } = next(state);
  next(state);
  expect(state.next()).toBeUndefined();
  answered("taken");
  expect(next(state).mail.row.id).toBe("3");
});

test("starts nothing after stop and becomes idle when open submissions have ended", () => {
  const state = stateOf(2);
  makeReady(state, ...["1", "2"].map((id) => rowOf(id, `${id}.example`)));
  const { mail, answered } = next(state);
  state.stop();
  state.rest();
  state.claim();
  expect([state.isStopping(), state.next(), state.isIdle()]).toEqual([true, undefined, false]);
  answered("taken");
  expect(state.isIdle()).toBe(false);
  state.ended(mail, "booked");
  expect([state.isIdle(), state.inHand()]).toEqual([true, ["2"]]);
});

test("has enough with two full batches in preparation or seven batches of one email", () => {
  const full = (batch: number) =>
    Array.from({ length: BATCH_SIZE }, (_, index) => rowOf(`${batch} ${index}`));
  const state = stateOf(1);
  state.admit(full(1));
  expect(state.hasEnough()).toBe(false);
  state.admit(full(2));
  expect(state.hasEnough()).toBe(true);
  const short = stateOf(1);
  for (let batch = 1; batch <= 6; batch++) short.admit([rowOf(String(batch))]);
  expect(short.hasEnough()).toBe(false);
  short.admit([rowOf("7")]);
  expect(short.hasEnough()).toBe(true);
});

test("only looks for work while resting if the full domains have changed", () => {
  const state = stateOf(3);
  expect(state.isWorthALook()).toBe(true);
  // A destination starts with a limit of two, so two waiting emails fill it.
  makeReady(state, ...["1", "2"].map((id) => rowOf(id)));
  expect(state.fullDomains(3)).toEqual(["a.example"]);
  state.rest();
  expect(state.isWorthALook()).toBe(false);
  next(state);
  expect(state.isWorthALook()).toBe(true);
  state.claim();
  expect(state.isWorthALook()).toBe(true);
});
