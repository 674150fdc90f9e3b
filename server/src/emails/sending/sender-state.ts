// Tracks the emails that a sender holds and which of them may start next. Kept in memory, without database, clock or transport.
import type { DestinationLimits, Echo } from "./destination-limits.ts";
import { BATCH_SIZE } from "../outbox/batch-queries.ts";
import { createReadyQueue } from "./ready-queue.ts";

/** Stage of an admitted email. `unbooked` means that it was submitted but its result could not be recorded. */
type Stage = "preparation" | "ready" | "handover" | "booking" | "unbooked";

/** `claiming` takes as much as it can use, `resting` found nothing to claim, and `stopping` starts nothing new. */
type Mode = "claiming" | "resting" | "stopping";

/** How an email ended. A withdrawn email was not submitted and is requeued. */
export type Ending = "booked" | "withdrawn" | "unbooked";

interface Row {
  id: string;
  priority: number;
  toAddress: string;
}

/** Emails that are prepared together. */
export interface Batch<Claimed extends Row> {
  rows: readonly Claimed[];
  /** Ids that are not in the ready queue. */
  outside: Set<string>;
}

export interface SenderState<Claimed extends Row, Mail extends { row: Claimed }> {
  /** Admits claimed emails for preparation. Returns null if there are none, because emails already held are not started again. */
  admit(claimed: readonly Claimed[]): Batch<Claimed> | null;
  /** Moves an email of a batch to the ready queue. */
  ready(batch: Batch<Claimed>, mail: Mail): void;
  /** Ends the preparation of a batch and drops the emails that did not become ready. */
  prepared(batch: Batch<Claimed>): void;
  /** Returns the next email to submit, if there is one. The caller must call `answered` and then `ended`. */
  next(): { mail: Mail; answered: (echo: Echo) => void } | undefined;
  ended(mail: Mail, ending: Ending): void;
  /** Notes a fault, after which the database may assign more emails to this process than it knows of. */
  noteFault(): void;
  /** Returns whether there was a fault since the last call. */
  takeFault(): boolean;
  /** Whether to stop claiming for now. */
  hasEnough(): boolean;
  /** Domains with enough waiting emails, which claims of this priority can leave out. */
  fullDomains(priority: number): string[];
  /** Whether it makes sense to look for more work after an email has ended. */
  isWorthALook(): boolean;
  rest(): void;
  /** Resumes claiming. */
  claim(): void;
  stop(): void;
  isStopping(): boolean;
  /** Whether nothing is in progress. Ready emails have not started, and unbooked ones have ended. */
  isIdle(): boolean;
  /** All emails held. This process should hold no others in the database. */
  inHand(): string[];
}

/** Emails rendered and signed while the next ones are claimed. Enough for two full batches and a few short ones. */
const MAX_IN_PREPARATION = 2.5 * BATCH_SIZE;
/** Weight of a small batch, because it takes as many statements as a full one. */
const SHORTEST_BATCH = BATCH_SIZE / 4;
/** Maximum of rendered emails in memory, most of which wait for a destination at its limit. */
const MAX_WAITING = 10 * BATCH_SIZE;

/** How many emails are held. */
export interface StateSize {
  /** Weight of the batches in preparation, with which claims continue while there is room for a full one. */
  preparation: number;
  /** Maximum of rendered emails that wait. */
  waiting: number;
}

const FULL_SIZE: StateSize = { preparation: MAX_IN_PREPARATION, waiting: MAX_WAITING };

/** @param connections maximum number of concurrent submissions */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createSenderState<Claimed extends Row, Mail extends { row: Claimed }>(
  connections: number,
  limits: DestinationLimits,
  size: StateSize = FULL_SIZE,
): SenderState<Claimed, Mail> {
  const queue = createReadyQueue<Mail>(limits);
  const stages = new Map<string, Stage>();
  const counts: Record<Stage, number> = { preparation: 0, ready: 0, handover: 0, booking: 0, unbooked: 0 };
  let mode: Mode = "claiming";
  let inPreparation = 0;
  let hasFault = false;
  /** The full domains when there was no other work. Looking again is pointless until they change. */
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
      // Under a new lease this process may claim an email that it is already submitting. Submit it only once.
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
      inPreparation + BATCH_SIZE > size.preparation ||
      queue.supply() > connections ||
      queue.size() > size.waiting,
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
