// Checks of sender domains: asks DNS, books what it means; now for one domain, and by the clock for all that are due.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { lockProject } from "../projects/projects.ts";
import { tellMembers } from "../projects/members/notifications.ts";
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
  findHolders,
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
  judgeProof,
  MAX_FAILED_CHECKS,
  namesToAsk,
  nextCheckMs,
  nextState,
  TAKEN,
} from "./rules.ts";
import { walkSpf } from "./spf-walk.ts";

/** Domains claimed at once, and how many of them are asked for at a time. With a DNS that is dead or plays for time a batch takes 35 to 95 s: less than the lease. */
const BATCH_SIZE = 50;
const CHECKS_AT_ONCE = 10;
const CLAIM_LEASE_MS = 2 * 60_000;
const LOOK_EVERY_MS = 30_000;
/** In one turn; what is left is due in the next. */
const MAX_BATCHES = 200;

export interface DomainChecker {
  /** Checks one domain now; `isTaken` when its key is published but another project has proved the domain before. */
  check(row: DomainRow): Promise<{ isTaken: boolean }>;
  /** Claims a batch of what is due and checks it; returns how many it claimed. */
  checkDue(signal: AbortSignal): Promise<number>;
}

/** `returnPath`: the domain of every envelope sender; null where mail leaves under its sender's own. */
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
    const booked = await transaction(database, (tx) =>
      book(tx, row, asked, { returnPath, servers: dns.servers(), baseUrl: baseUrl() }),
    );
    const ids = { projectId: row.projectId, domainId: row.id, domain: row.domain };
    if (booked.isLost)
      log.warn(ids, `a domain is no longer verified: ${MAX_FAILED_CHECKS} checks in a row failed`);
    if (booked.isSwitched) log.info(ids, "a domain signs with its next DKIM key from here on");
    return booked;
  }

  async function checkClaimed(key: DomainKey, spfOfReturnPath: Promise<FoundRecords>): Promise<void> {
    try {
      const row = await findDomain(database, key);
      if (row !== undefined) await check(row, spfOfReturnPath);
    } catch (error) {
      log.warn({ err: error, domainId: key.id }, "a domain could not be checked; it is due again soon");
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

/** Checks what is due by the clock, until it is stopped. Any number of processes may do so at once. */
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
    everyMs: LOOK_EVERY_MS,
    delayMs: LOOK_EVERY_MS,
    log,
    metrics,
  });
}

/** Books a check in one transaction; the row is read again under the lock, since it may have changed while DNS was asked. */
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
  // Before the domain, as who sends a campaign locks them.
  const mayBeFirst = asked.status === "PENDING";
  if (mayBeFirst) await lockProject(tx, asked.projectId);
  await lockDomainName(tx, asked.domain);
  const row = await findDomain(tx, key);
  if (row === undefined) return { isTaken: false, isLost: false, isSwitched: false };
  const { proof, isNextPublished } = judgeProof(row, found);
  const isTaken = proof === "found" && row.status === "PENDING" && (await isHeldElsewhere(tx, row));
  const state = nextState(row, isTaken ? "unknown" : proof, row.now);
  const hasChanged = state.status !== row.status;
  const changedAt = hasChanged ? row.now : row.statusChangedAt;
  const isUndecided = proof === "unknown" && trouble !== null;
  const problem = isUndecided ? trouble : null;
  const dnsFound = withEarlier(row, found, returnPath);
  await insertRecordChanges(tx, key, recordChanges(row, dnsFound, returnPath));
  await updateCheck(tx, key, {
    status: state.status,
    failedChecks: state.failedChecks,
    failedAt: state.failedAt,
    hasChanged,
    dnsFound,
    dnsLookups: lookupsOf(row, found, { returnPath, servers }),
    ed25519Published: isEd25519Published(row, found),
    checkProblem: isTaken ? TAKEN : problem,
    nextCheckMs: nextCheckMs(state.status, changedAt, row.now),
  });
  if (mayBeFirst && hasChanged && state.status === "VERIFIED") await setDefaultSender(tx, row, false);
  const isSwitched = isNextPublished && !isTaken;
  // A key that proved nothing has signed nothing that could still be on its way.
  if (isSwitched) await promoteNextKey(tx, key, row.status === "VERIFIED" ? FORMER_KEY_MS : null);
  else await deleteFormerKey(tx, key);
  const isLost = hasChanged && state.status === "PENDING";
  if (isLost) {
    const mail = lostDomainMail(row, MAX_FAILED_CHECKS, baseUrl);
    const facts = { domainId: row.id, domain: row.domain };
    await tellMembers(tx, { projectId: row.projectId, kind: "domain-lost", facts }, mail);
  }
  return { isTaken, isLost, isSwitched };
}

async function isHeldElsewhere(tx: Tx, row: DomainRow): Promise<boolean> {
  const holders = await findHolders(tx, row.domain);
  return holders.some((holder) => holder.projectId !== row.projectId && holder.status === "VERIFIED");
}

/** Of the names that records have: this check where somebody answered, else the one before. */
function lookupsOf(
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

/** For a name that nobody answered for, what was found there before still stands. */
function withEarlier(row: DomainRow, found: FoundRecords, returnPath: string | null): FoundRecords {
  const records = { ...row.dnsFound, ...found };
  const spfDomains = returnPath === null ? [row.domain] : [row.domain, returnPath];
  const needed = [
    ...namesToAsk(row),
    ...spfDomains.flatMap((domain) => [...walkSpf(domain, records).reached]),
  ];
  return Object.fromEntries(
    needed.flatMap((key) => {
      const value = records[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
