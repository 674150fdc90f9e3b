// Manages the lease of a sending process. Its claimed emails belong to it only while its row in `senders` is valid by the database's clock.
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { startLoop } from "../../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { enqueueSentEvents } from "../../reactions/reactions.ts";
import { countMails } from "../results/sending-hours.ts";
import { endDoubts } from "../doubt/doubts.ts";
import { kindOf, waitInDoubtMs } from "../rows/rules.ts";
import { insertAttempts, updateOutcomes } from "../results/outcome-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import {
  deleteExpiredSender,
  deleteSender,
  listSenders,
  listClaimedOf,
  renewLease,
  requeueClaimed,
  upsertSender,
  haveAllSendersRegistered,
} from "./lease-queries.ts";

const LEASE_SECONDS = 15;
const BEAT_MS = 5_000;
/** A sender stops this long before its lease ends, because its clock may lag behind the database's. */
const MARGIN_MS = 4_000;
/** How long to wait for the other senders after a failover. They detect it within seconds of their first connection. */
const GRACE_SECONDS = 20;
const CRASH_REASON = recordedReason("senderStopped");

export interface Lease {
  senderId(): string;
  /** Whether this process may still submit emails. Uses its own clock with a safety margin. */
  isHeld(): boolean;
  /** Ensures a valid lease, under a new id if the old one was lost. */
  ensure(): Promise<void>;
  /** Registers the same sender after a failover. The lease counts as held only when the other senders have appeared too. */
  registerAgain(tx: Tx): Promise<void>;
  /** Number of live senders at the last heartbeat, including this one. */
  liveSenders(): number;
  end(): Promise<void>;
}

export interface LeaseOptions {
  database: Database;
  log: Log;
  metrics: Metrics;
  /** Time between renewals, shorter in tests. */
  beatMs?: number;
  /** The transport outages known to this process. Stored with the lease for other processes. */
  outages?: () => readonly string[];
}

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export async function createLease(options: LeaseOptions): Promise<Lease> {
  const { database, log, metrics } = options;
  let senderId = newId();
  let heldUntilMs = 0;
  let liveSenders = 1;
  let haveOthersRegistered = false;
  /**
   * Senders that had expired at the last check. They are settled only if they are still expired at the next one, so that a paused sender
   * can renew first.
   */
  let suspects = new Map<string, number>();

  async function register(): Promise<void> {
    senderId = newId();
    const startedMs = performance.now();
    await upsertSender(database, senderId, LEASE_SECONDS);
    heldUntilMs = startedMs + LEASE_SECONDS * 1000 - MARGIN_MS;
  }

  async function renew(): Promise<boolean> {
    const startedMs = performance.now();
    if (!(await renewLease(database, senderId, LEASE_SECONDS, options.outages?.() ?? []))) return false;
    heldUntilMs = startedMs + LEASE_SECONDS * 1000 - MARGIN_MS;
    return true;
  }

  async function lose(): Promise<void> {
    metrics.leasesLost.inc();
    log.warn({ senderId }, "this sender was declared dead, continuing under a new id");
    await register();
  }

  async function settleTheDead(expired: ReadonlyArray<{ id: string; leaseUntil: Date }>): Promise<void> {
    const known = suspects;
    suspects = new Map(expired.map((sender) => [sender.id, sender.leaseUntil.getTime()]));
    for (const sender of expired) {
      if (known.get(sender.id) !== sender.leaseUntil.getTime()) continue;
      const settled = await transaction(database, async (tx) => {
        const inDoubt = await deleteExpiredSender(tx, sender);
        return inDoubt === null ? null : settleSender(tx, sender.id, inDoubt);
      });
      if (settled !== null)
        log.warn({ deadSender: sender.id, ...settled }, "settled the emails of a dead sender");
    }
  }

  async function beat(): Promise<void> {
    if (!(await renew())) await lose();
    await look();
  }

  /** Counts the other senders and settles the dead ones. */
  async function look(): Promise<void> {
    const senders = await listSenders(database);
    if (haveOthersRegistered)
      await settleTheDead(senders.filter(({ id, isExpired }) => isExpired && id !== senderId));
    liveSenders = senders.filter(({ isExpired }) => !isExpired).length;
  }

  await register();
  await look();
  const beatMs = options.beatMs ?? BEAT_MS;
  const beating = startLoop({ name: "lease", runOnce: beat, everyMs: beatMs, delayMs: beatMs, log, metrics });
  return {
    senderId: () => senderId,
    isHeld: () => haveOthersRegistered && performance.now() < heldUntilMs,
    async ensure() {
      // A sender that has not appeared yet may remember what this database lost, so nothing is claimed until then.
      if (!haveOthersRegistered)
        haveOthersRegistered = await haveAllSendersRegistered(database, GRACE_SECONDS);
      if (performance.now() < heldUntilMs) return;
      if (!(await renew())) await lose();
    },
    async registerAgain(tx) {
      haveOthersRegistered = false;
      const startedMs = performance.now();
      await upsertSender(tx, senderId, LEASE_SECONDS);
      heldUntilMs = startedMs + LEASE_SECONDS * 1000 - MARGIN_MS;
    },
    liveSenders: () => Math.max(1, liveSenders),
    async end() {
      await beating.stop();
      await deleteSender(database, senderId);
    },
  };
}

/** Settles the emails of a dead sender. Claimed emails are requeued, and the ones in `inDoubt` follow the policy of their kind. */
export async function settleSender(tx: Tx, senderId: string, inDoubt: readonly string[]) {
  const requeued = await requeueClaimed(tx, senderId, inDoubt);
  const uncertain = await listClaimedOf(tx, senderId);
  if (uncertain.length === 0) return { requeued, uncertain: [] };
  const outcomes = uncertain.map((email): OutcomeRow => {
    const attempts = { attempts: email.attempts + 1, earlierDoubts: 0 };
    const isRetried = waitInDoubtMs(kindOf(email.priority), attempts, 0) !== null;
    return {
      projectId: email.projectId,
      id: email.id,
      status: isRetried ? "QUEUED" : "UNCONFIRMED",
      reason: CRASH_REASON,
      // The email has already waited for the lease to expire.
      waitMs: 0,
      subject: null,
      sent: null,
    };
  });
  const ended = pairUp(uncertain, outcomes).map(([email, outcome]) => ({
    outcome,
    attempt: email.attempts + 1,
    isInDoubt: true,
  }));
  const rows = await updateOutcomes(tx, senderId, await endDoubts(tx, ended));
  await insertAttempts(
    tx,
    uncertain.map((email) => ({
      projectId: email.projectId,
      emailId: email.id,
      attempt: email.attempts + 1,
      outcome: "uncertain",
      answer: CRASH_REASON,
      transport: null,
      meaning: null,
    })),
  );
  // For these emails an earlier attempt had been accepted.
  const left = rows.flatMap((row) => (row.leftAt === null ? [] : [{ ...row, leftAt: row.leftAt }]));
  await enqueueSentEvents(
    tx,
    left.map(({ projectId, contactId, id }) => ({ projectId, contactId, emailId: id })),
  );
  await countMails(
    tx,
    left.map(({ projectId, leftAt }) => ({ projectId, at: leftAt, what: "sent" })),
  );
  return { requeued, uncertain: uncertain.map(({ id }) => id) };
}
