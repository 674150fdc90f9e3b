// Checks sender domains: asks DNS and stores the result, for one domain on request or for all due ones on a schedule.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { recordProjectEvents } from "../reactions/reactions.ts";
import { lockProject } from "../projects/projects.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import { askRecords, askSpf, type Asked } from "./ask-records.ts";
import {
  claimDueDomains,
  deleteFormerKey,
  listDueDomains,
  promoteNextKey,
  updateCheck,
} from "./check-queries.ts";
import { setDefaultSender } from "./default-sender.ts";
import { insertRecordChanges } from "./change-queries.ts";
import { lostDomainMail } from "./lost-domain-mail.ts";
import {
  findDomain,
  findClaims,
  lockDomainName,
  type DomainKey,
  type DomainRow,
  type FoundRecords,
  type Lookups,
} from "./queries.ts";
import { recordChanges } from "./record-changes.ts";
import {
  FORMER_KEY_MS,
  isEd25519Published,
  evaluateProof,
  MAX_FAILED_CHECKS,
  mxKey,
  namesToAsk,
  nextCheckMs,
  nextState,
  TAKEN,
} from "./rules.ts";
import { walkSpf } from "./spf-walk.ts";

/**
 * Domains claimed per batch, and how many are checked concurrently. With a dead or slow DNS a batch takes 35 to 95 s, which is less than
 * the lease.
 */
const BATCH_SIZE = 50;
const CHECKS_AT_ONCE = 10;
const CLAIM_LEASE_MS = 2 * 60_000;
const POLL_EVERY_MS = 30_000;
/** Per run; the rest is due in the next run. */
const MAX_BATCHES = 200;

export interface DomainChecker {
  /** Checks one domain now. `isTaken`: its key is published, but another project verified the domain first. */
  check(row: DomainRow): Promise<{ isTaken: boolean }>;
  /** Claims a batch of due domains and checks it. Returns how many were claimed. */
  checkDue(signal: AbortSignal): Promise<number>;
}

/** `returnPath`: the domain of every envelope sender; null if each sender domain is its own return path. */
export function createDomainChecker(options: {
  database: Database;
  dns: Dns;
  returnPath: string | null;
  baseUrl: () => string;
  log: Log;
}): DomainChecker {
  const { database, dns, returnPath, baseUrl, log } = options;
  const askReturnPath = async () => (returnPath === null ? {} : askSpf(dns, returnPath));

  async function check(row: DomainRow, spfOfReturnPath = askReturnPath()): Promise<{ isTaken: boolean }> {
    const { found, trouble } = await askRecords(dns, row);
    const asked = { found: { ...found, ...(await spfOfReturnPath) }, trouble };
    const recorded = await transaction(database, (tx) =>
      book(tx, row, asked, { returnPath, servers: dns.servers(), baseUrl: baseUrl() }),
    );
    const ids = { projectId: row.projectId, domainId: row.id, domain: row.domain };
    if (recorded.isLost)
      log.warn(ids, `domain is no longer verified after ${MAX_FAILED_CHECKS} consecutive failed checks`);
    if (recorded.isSwitched) log.info(ids, "domain now signs with its next DKIM key");
    return recorded;
  }

  async function checkClaimed(key: DomainKey, spfOfReturnPath: Promise<FoundRecords>): Promise<void> {
    try {
      const row = await findDomain(database, key);
      if (row !== undefined) await check(row, spfOfReturnPath);
    } catch (error) {
      log.warn({ err: error, domainId: key.id }, "failed to check a domain, retrying soon");
    }
  }

  return {
    check: (row) => check(row),
    async checkDue(signal) {
      const due = await listDueDomains(database, BATCH_SIZE);
      if (due.length === 0) return 0;
      const claimed = await transaction(database, (tx) => claimDueDomains(tx, due, CLAIM_LEASE_MS));
      const count = claimed.length;
      if (count === 0 || signal.aborted) return count;
      const spfOfReturnPath = askReturnPath();
      await Promise.all(
        Array.from({ length: CHECKS_AT_ONCE }, async () => {
          for (let key = claimed.shift(); key !== undefined && !signal.aborted; key = claimed.shift())
            await checkClaimed(key, spfOfReturnPath);
        }),
      );
      return count;
    },
  };
}

/** Checks due domains on a schedule until stopped. Any number of processes may run this. */
export function startDomainChecks(options: {
  checkDue: DomainChecker["checkDue"];
  log: Log;
  metrics: Metrics;
}): Loop {
  const { checkDue, log, metrics } = options;
  async function runOnce(signal: AbortSignal): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch++)
      if ((await checkDue(signal)) === 0) return;
  }
  return startLoop({
    name: "domain checks",
    runOnce,
    everyMs: POLL_EVERY_MS,
    delayMs: POLL_EVERY_MS,
    log,
    metrics,
  });
}

/** Stores a check in one transaction. Reads the row again under the lock, because it may have changed during the DNS queries. */
async function book(
  tx: Tx,
  asked: DomainRow,
  { found, trouble }: Asked,
  {
    returnPath,
    servers,
    baseUrl,
  }: { returnPath: string | null; servers: readonly string[]; baseUrl: string },
) {
  const key = { projectId: asked.projectId, id: asked.id };
  // Locked before the domain, in the same order as when a campaign is sent.
  const mayBeFirst = asked.status === "PENDING";
  if (mayBeFirst) await lockProject(tx, asked.projectId);
  await lockDomainName(tx, asked.domain);
  const row = await findDomain(tx, key);
  if (row === undefined) return { isTaken: false, isLost: false, isSwitched: false };
  const { proof, isNextPublished } = evaluateProof(row, found);
  const isTaken = proof === "found" && row.status === "PENDING" && (await isVerifiedElsewhere(tx, row));
  const state = nextState(row, isTaken ? "unknown" : proof, row.now);
  const hasChanged = state.status !== row.status;
  const changedAt = hasChanged ? row.now : row.statusChangedAt;
  const isUndecided = proof === "unknown" && trouble !== null;
  const problem = isUndecided ? trouble : null;
  const dnsFound = keepUnanswered(row, found, returnPath);
  await insertRecordChanges(tx, key, recordChanges(row, dnsFound, returnPath));
  await updateCheck(tx, key, {
    status: state.status,
    failedChecks: state.failedChecks,
    failedAt: state.failedAt,
    hasChanged,
    dnsFound,
    dnsLookups: lookupTimesOf(row, found, { returnPath, servers }),
    ed25519Published: isEd25519Published(row, found),
    checkProblem: isTaken ? TAKEN : problem,
    nextCheckMs: nextCheckMs(state.status, changedAt, row.now),
  });
  if (mayBeFirst && hasChanged && state.status === "VERIFIED") await setDefaultSender(tx, row, false);
  const isSwitched = isNextPublished && !isTaken;
  // A key that was never verified signed no email that could still be in transit.
  if (isSwitched) await promoteNextKey(tx, key, row.status === "VERIFIED" ? FORMER_KEY_MS : null);
  else await deleteFormerKey(tx, key);
  const isLost = hasChanged && state.status === "PENDING";
  if (hasChanged) await recordStatus(tx, row, state.status);
  if (isLost) {
    const mail = lostDomainMail(row, MAX_FAILED_CHECKS, baseUrl);
    const facts = { domainId: row.id, domain: row.domain };
    await notifyMembers(tx, { projectId: row.projectId, kind: "domain-lost", facts }, mail);
  }
  return { isTaken, isLost, isSwitched };
}

async function recordStatus(tx: Tx, { projectId, id, domain }: DomainRow, status: string): Promise<void> {
  const type = status === "VERIFIED" ? "domain.verified" : "domain.unverified";
  await recordProjectEvents(tx, [{ projectId, type, data: { domain: { id, domain, status } } }]);
}

async function isVerifiedElsewhere(tx: Tx, row: DomainRow): Promise<boolean> {
  const holders = await findClaims(tx, row.domain);
  return holders.some((holder) => holder.projectId !== row.projectId && holder.status === "VERIFIED");
}

/** Returns the last lookup of each record's name: this check if DNS answered, otherwise the previous one. */
function lookupTimesOf(
  row: DomainRow,
  found: FoundRecords,
  { returnPath, servers }: { returnPath: string | null; servers: readonly string[] },
): Lookups {
  const now = { at: row.now.toISOString(), servers };
  const names = [...namesToAsk(row), row.domain, ...(returnPath === null ? [] : [returnPath])];
  return Object.fromEntries(
    names.flatMap((name) => {
      const lookup = found[name] === undefined ? row.dnsLookups[name] : now;
      return lookup === undefined ? [] : [[name, lookup] as const];
    }),
  );
}

/** Keeps the previous records of names for which DNS gave no answer. */
function keepUnanswered(row: DomainRow, found: FoundRecords, returnPath: string | null): FoundRecords {
  const records = { ...row.dnsFound, ...found };
  const spfDomains = returnPath === null ? [row.domain] : [row.domain, returnPath];
  const needed = [
    ...namesToAsk(row),
    ...(row.receives ? [mxKey(row.domain)] : []),
    ...spfDomains.flatMap((domain) => [...walkSpf(domain, records).reached]),
  ];
  return Object.fromEntries(
    needed.flatMap((key) => {
      const value = records[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
