// Checks of sender domains: asks DNS, books what it means; now for one domain, and by the clock for all that are due.
// Before it: domains.ts (a person asks), worker.ts (the clock). After it: rules.ts judges, check-queries.ts books.
import { transaction, type Database, type Tx } from "../platform/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import { enqueueSystemMails } from "../emails/system-mail.ts";
import { readMemberAddresses } from "../projects/members.ts";
import {
  claimDueDomains,
  deleteFormerKey,
  listDueDomains,
  promoteNextKey,
  updateCheck,
} from "./check-queries.ts";
import { dkimName } from "./dkim-record.ts";
import { lostDomainMail } from "./lost-domain-mail.ts";
import {
  findDomain,
  findHolders,
  lockDomainName,
  type DomainKey,
  type DomainRow,
  type FoundRecords,
} from "./queries.ts";
import {
  FORMER_KEY_MS,
  judgeProof,
  MAX_FAILED_CHECKS,
  namesToAsk,
  nextCheckMs,
  nextState,
  secondKeyOf,
  signingKeyOf,
} from "./rules.ts";
import { spfRecordsOf } from "./spf-record.ts";

/** Domains claimed at once, and how many of them are asked for at a time. With a dead DNS a batch takes 35 s: far less than the lease. */
const BATCH_SIZE = 50;
const CHECKS_AT_ONCE = 10;
const CLAIM_LEASE_MS = 2 * 60_000;
const LOOK_EVERY_MS = 30_000;
/** In one turn; what is left is due in the next. */
const MAX_BATCHES = 200;
/** Of the records of one name this much is kept: a stranger's DNS says how much there is. */
const MAX_KEPT_RECORDS = 10;
const MAX_KEPT_CHARS = 2_000;

const TAKEN = "The domain is verified in another project.";

export interface DomainChecker {
  /** Checks one domain now; `isTaken` when its key is published but another project has proved the domain before. */
  check(row: DomainRow): Promise<{ isTaken: boolean }>;
  /** Claims a batch of what is due and checks it; answers how many it claimed. */
  checkDue(signal: AbortSignal): Promise<number>;
}

export function createDomainChecker(options: { database: Database; dns: Dns; log: Log }): DomainChecker {
  const { database, dns, log } = options;

  async function check(row: DomainRow): Promise<{ isTaken: boolean }> {
    const asked = await ask(dns, row);
    const booked = await transaction(database, (tx) => book(tx, row, asked));
    const ids = { projectId: row.project_id, domainId: row.id, domain: row.domain };
    if (booked.isLost)
      log.warn(ids, `a domain is no longer verified: ${MAX_FAILED_CHECKS} checks in a row failed`);
    if (booked.isSwitched) log.info(ids, "a domain signs with its next DKIM key from here on");
    return booked;
  }

  async function checkClaimed(key: DomainKey): Promise<void> {
    try {
      const row = await findDomain(database, key);
      if (row !== undefined) await check(row);
    } catch (error) {
      log.warn({ err: error, domainId: key.id }, "a domain could not be checked; it is due again soon");
    }
  }

  return {
    check,
    async checkDue(signal) {
      const due = await listDueDomains(database, BATCH_SIZE);
      if (due.length === 0) return 0;
      const claimed = await transaction(database, (tx) => claimDueDomains(tx, due, CLAIM_LEASE_MS));
      const count = claimed.length;
      await Promise.all(
        Array.from({ length: CHECKS_AT_ONCE }, async () => {
          for (let key = claimed.shift(); key !== undefined && !signal.aborted; key = claimed.shift())
            await checkClaimed(key);
        }),
      );
      return count;
    },
  };
}

/** Checks what is due by the clock, until it is stopped. Any number of processes may do so at once. */
export function startDomainChecks(options: { checkDue: DomainChecker["checkDue"]; log: Log }): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  let turn: Promise<void> | null = null;

  async function takeTurn(): Promise<void> {
    try {
      for (let batch = 0; batch < MAX_BATCHES && !stopping.signal.aborted; batch++)
        if ((await options.checkDue(stopping.signal)) === 0) return;
    } catch (error) {
      options.log.warn({ err: error }, "domains could not be checked; it is tried again");
    }
  }

  const timer = setInterval(() => {
    turn ??= takeTurn().finally(() => (turn = null));
  }, LOOK_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await turn;
    },
  };
}

interface Asked {
  found: FoundRecords;
  /** Why nobody answered for one of our keys; null when DNS answered. */
  trouble: string | null;
}

async function ask(dns: Dns, row: DomainRow): Promise<Asked> {
  const answers = await Promise.all(
    namesToAsk(row).map(async (name) => ({ name, answer: await dns.txt(name) })),
  );
  const second = secondKeyOf(row);
  const ours = [signingKeyOf(row), ...(second?.role === "next" ? [second] : [])].map(dkimName);
  const found = answers.flatMap(({ name, answer }) => {
    if (answer.kind === "unanswered") return [];
    const records = answer.kind === "none" ? [] : answer.records;
    return [[name, kept(name === row.domain ? spfRecordsOf(records) : records)] as const];
  });
  const reasons = answers.flatMap(({ name, answer }) =>
    answer.kind === "unanswered" && ours.includes(name) ? [answer.reason] : [],
  );
  return { found: Object.fromEntries(found), trouble: reasons[0] ?? null };
}

/** What is stored of the records of a name; jsonb cannot hold a zero character. */
function kept(records: readonly string[]): string[] {
  return records
    .slice(0, MAX_KEPT_RECORDS)
    .map((record) => record.slice(0, MAX_KEPT_CHARS).replaceAll("\0", "\u{FFFD}").toWellFormed());
}

/** Books a check in one transaction; the row is read again under the lock, since it may have changed while DNS was asked. */
async function book(tx: Tx, asked: DomainRow, { found, trouble }: Asked) {
  const key = { projectId: asked.project_id, id: asked.id };
  await lockDomainName(tx, asked.domain);
  const row = await findDomain(tx, key);
  if (row === undefined) return { isTaken: false, isLost: false, isSwitched: false };
  const { proof, isNextPublished } = judgeProof(row, found);
  const isTaken = proof === "found" && row.status === "PENDING" && (await isHeldElsewhere(tx, row));
  const state = nextState(row, isTaken ? "unknown" : proof, row.now);
  const hasChanged = state.status !== row.status;
  const changedAt = hasChanged ? row.now : row.status_changed_at;
  const isUndecided = proof === "unknown" && trouble !== null;
  const problem = isUndecided ? `DNS did not answer (${trouble}), so nothing was decided.` : null;
  await updateCheck(tx, key, {
    status: state.status,
    failed_checks: state.failed_checks,
    failed_at: state.failed_at,
    hasChanged,
    dns_found: withEarlier(row, found),
    check_problem: isTaken ? TAKEN : problem,
    nextCheckMs: nextCheckMs(state.status, changedAt, row.now),
  });
  const isSwitched = isNextPublished && !isTaken;
  // A key that proved nothing has signed nothing that could still be on its way.
  if (isSwitched) await promoteNextKey(tx, key, row.status === "VERIFIED" ? FORMER_KEY_MS : null);
  else await deleteFormerKey(tx, key);
  const isLost = hasChanged && state.status === "PENDING";
  if (isLost) {
    const mail = lostDomainMail(row, MAX_FAILED_CHECKS);
    const members = await readMemberAddresses(tx, row.project_id);
    await enqueueSystemMails(
      tx,
      members.map((to) => ({ to, ...mail })),
    );
  }
  return { isTaken, isLost, isSwitched };
}

async function isHeldElsewhere(tx: Tx, row: DomainRow): Promise<boolean> {
  const holders = await findHolders(tx, row.domain);
  return holders.some((holder) => holder.project_id !== row.project_id && holder.status === "VERIFIED");
}

/** For a name that nobody answered for, what was found there before still stands. */
function withEarlier(row: DomainRow, found: FoundRecords): FoundRecords {
  return Object.fromEntries(
    namesToAsk(row).flatMap((name) => {
      const records = found[name] ?? row.dns_found[name];
      return records === undefined ? [] : [[name, records] as const];
    }),
  );
}
