// What a sender has in hand, and what of it may begin next: memory alone, no database, no clock, no transport.
import type { DestinationLimits, Echo } from "./destination-limits.ts";
import { BATCH_SIZE } from "../outbox/batch-queries.ts";
import { createReadyQueue } from "./ready-queue.ts";

/** Where a mail is that was admitted and has not ended. `unbooked`: handed over, but what came of it could not be booked. */
type Stage = "preparation" | "ready" | "handover" | "booking" | "unbooked";

/** `claiming`: takes as much as it can use. `resting`: there was nothing to claim. `stopping`: begins nothing new. */
type Mode = "claiming" | "resting" | "stopping";

/** How a mail ended. `withdrawn`: nothing was handed over; it goes back. */
export type Ending = "booked" | "withdrawn" | "unbooked";

interface Row {
  id: string;
  priority: number;
  toAddress: string;
}

/** Mails that are prepared together. */
export interface Batch<Claimed extends Row> {
  rows: readonly Claimed[];
  /** Those that are not in the ready queue. */
  outside: Set<string>;
}

export interface SenderState<Claimed extends Row, Mail extends { row: Claimed }> {
  /** Claimed mails that are to be prepared; null when there are none: what is in hand already is not begun twice. */
  admit(claimed: readonly Claimed[]): Batch<Claimed> | null;
  /** Puts one of a batch into the ready queue. */
  ready(batch: Batch<Claimed>, mail: Mail): void;
  /** The batch is through: what is not in the ready queue is not in hand any more. */
  prepared(batch: Batch<Claimed>): void;
  /** The mail to be handed over now, if one may; whoever takes it says `answered`, then `ended`. */
  next(): { mail: Mail; answered: (echo: Echo) => void } | undefined;
  ended(mail: Mail, ending: Ending): void;
  /** Something went wrong: the database may say that this process holds more than it knows of. */
  noteFault(): void;
  /** Whether there was a fault since the last time. */
  takeFault(): boolean;
  /** Whether no more need be claimed for now. */
  hasEnough(): boolean;
  /** Domains of which enough wait, so that no more of this priority need be claimed. */
  fullDomains(priority: number): string[];
  /** Whether a look for more may find something, after a mail has ended. */
  isWorthALook(): boolean;
  rest(): void;
  /** There may be something to claim again. */
  claim(): void;
  stop(): void;
  isStopping(): boolean;
  /** Whether nothing is under way. What is ready has not begun, and what is unbooked has ended. */
  isIdle(): boolean;
  /** All mails in hand: what the database says beside them this process holds by accident. */
  inHand(): string[];
}

/** Mails that are rendered and signed while the next ones are claimed: two batches, and a few short ones beside them. */
const MAX_IN_PREPARATION = 2.5 * BATCH_SIZE;
/** A batch of one mail takes as many statements as a full one: it counts as so many. */
const SHORTEST_BATCH = BATCH_SIZE / 4;
/** Rendered mails kept at once, of which most then wait for a destination at its limit. */
const MAX_WAITING = 10 * BATCH_SIZE;

/** @param connections mails in handover at once */
export function createSenderState<Claimed extends Row, Mail extends { row: Claimed }>(
  connections: number,
  limits: DestinationLimits,
): SenderState<Claimed, Mail> {
  const queue = createReadyQueue<Mail>(limits);
  const stages = new Map<string, Stage>();
  const counts: Record<Stage, number> = { preparation: 0, ready: 0, handover: 0, booking: 0, unbooked: 0 };
  let mode: Mode = "claiming";
  let inPreparation = 0;
  let hasFault = false;
  /** The domains that were full when there was nothing else to claim; until that changes a look would be in vain. */
  let crowdedBy = "";

  const crowd = (): string => queue.fullDomains(Infinity).join(" ");

  function move(id: string, to: Stage | null): void {
    const from = stages.get(id);
    if (from !== undefined) counts[from]--;
    stages.delete(id);
    if (to === null) return;
    counts[to]++;
    stages.set(id, to);
  }

  return {
    admit(claimed) {
      // Under a new lease this process may claim what it has in handover since the old one: one handover is enough.
      const rows = claimed.filter(({ id }) => !stages.has(id));
      if (rows.length === 0) return null;
      for (const { id } of rows) move(id, "preparation");
      inPreparation += weightOf(rows);
      return { rows, outside: new Set(rows.map(({ id }) => id)) };
    },
    ready({ outside }, mail) {
      outside.delete(mail.row.id);
      move(mail.row.id, "ready");
      queue.add(mail);
    },
    prepared({ rows, outside }) {
      for (const id of outside) move(id, null);
      inPreparation -= weightOf(rows);
    },
    next() {
      const taken = counts.handover < connections && mode !== "stopping" ? queue.take() : undefined;
      if (taken === undefined) return undefined;
      const { mail, end } = taken;
      move(mail.row.id, "handover");
      return {
        mail,
        answered(echo) {
          move(mail.row.id, "booking");
          end(echo);
        },
      };
    },
    ended(mail, ending) {
      move(mail.row.id, ending === "unbooked" ? "unbooked" : null);
      if (ending === "withdrawn") hasFault = true;
    },
    noteFault: () => void (hasFault = true),
    takeFault() {
      const had = hasFault;
      hasFault = false;
      return had;
    },
    hasEnough: () =>
      inPreparation + BATCH_SIZE > MAX_IN_PREPARATION ||
      queue.supply() > connections ||
      queue.size() > MAX_WAITING,
    fullDomains: (priority) => queue.fullDomains(priority),
    isWorthALook: () =>
      queue.supply() <= connections && (mode !== "resting" || crowdedBy === "" || crowdedBy !== crowd()),
    rest() {
      if (mode === "stopping") return;
      mode = "resting";
      crowdedBy = crowd();
    },
    claim() {
      if (mode !== "stopping") mode = "claiming";
    },
    stop: () => void (mode = "stopping"),
    isStopping: () => mode === "stopping",
    isIdle: () => inPreparation === 0 && counts.handover === 0 && counts.booking === 0,
    inHand: () => [...stages.keys()],
  };
}

function weightOf(rows: readonly unknown[]): number {
  return Math.max(rows.length, SHORTEST_BATCH);
}
