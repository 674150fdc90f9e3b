// Reads the state of the whole installation for its admins. Each part has its own time limit, so that one slow part hides no other.
import {
  INSTALLATION_COUNTED,
  INSTALLATION_ITEMS,
  type getInstallation,
  type listInstallationProjects,
} from "@postloft/contract/installation.ts";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { JobState } from "@postloft/contract/job.ts";
import type { z } from "zod";
import { now } from "../platform/clock.ts";
import {
  isOutOfTime,
  limitStatements,
  transaction,
  type Database,
  type Tx,
} from "../platform/database/database.ts";
import { defaultSystemAddress } from "../emails/platform-email/prepare-platform-email.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import type { TransportWatch } from "../transports/transport-watch.ts";
import { examineQuickly } from "./doctor.ts";
import type { InstanceFacts } from "./facts.ts";
import {
  listInstallationJobs,
  listInstallationProjectRows,
  listThrottledDomains,
  listSchedules,
  listSenders,
  readDatabase,
} from "./installation-queries.ts";
import { readDisk, readProjection } from "./measure-storage.ts";
import { listProcesses } from "./process-queries.ts";
import { reasonOf, type Sending } from "./queue-reason.ts";
import { ALIVE_SECONDS } from "./list-process.ts";
import { listLargestTables } from "./storage-queries.ts";
import { countInDoubt, listCampaignQueues, listProjectQueues, type WaitingRow } from "./waiting-queries.ts";

type Installation = z.output<(typeof getInstallation)["responses"][200]>;
type Processes = NonNullable<Installation["processes"]>;
type Transports = NonNullable<Installation["transports"]>;

export interface InstallationParts {
  database: Database;
  facts: InstanceFacts;
  /** One for each transport that sends email off this machine. */
  watches: readonly TransportWatch[];
}

const TIME_LIMIT_MS = 3_000;
const LARGEST_TABLES = 20;
const LIMITS = { limit: INSTALLATION_ITEMS, counted: INSTALLATION_COUNTED };

/** Reads one part. Returns null if a statement takes too long. */
async function inTime<Part>(database: Database, read: (tx: Tx) => Promise<Part>): Promise<Part | null> {
  try {
    return await transaction(database, async (tx) => {
      await limitStatements(tx, TIME_LIMIT_MS);
      return read(tx);
    });
  } catch (error) {
    if (isOutOfTime(error)) return null;
    throw error;
  }
}

/** Reads all parts one after the other, because a page that admins open must not take many connections. */
export async function readInstallation(parts: InstallationParts): Promise<Installation> {
  const { database, facts, watches } = parts;
  const read = <Part>(work: (tx: Tx) => Promise<Part>) => inTime(database, work);
  const senders = await read((tx) => listSenders(tx, INSTALLATION_ITEMS));
  const transports = senders && transportsOf(facts, watches, senders);
  const sending: Sending = {
    hasProcess: senders === null || senders.some(({ isAlive }) => isAlive),
    isOut: transports !== null && transports.every(({ outage }) => outage !== null),
  };
  const disk = await readDisk(facts.folder);
  const projection = await read((tx) => readProjection(tx, disk?.freeBytes ?? null));
  return {
    at: now().toISOString(),
    version: facts.version,
    settings: {
      roles: [...facts.roles],
      signUps: !facts.signupsDisabled,
      verificationRequired: facts.verificationRequired,
      reputationGuard: facts.reputationGuard,
      systemFrom: (facts.systemFrom ?? defaultSystemAddress(facts.baseUrl())).address,
    },
    findings: await readFindings(parts),
    processes: await read(readProcesses),
    transports,
    throttledDomains: await read(readThrottledDomains),
    queues: await read((tx) => readQueues(tx, sending)),
    unconfirmed: await read((tx) => countInDoubt(tx, INSTALLATION_COUNTED)),
    jobs: await read(readJobs),
    schedules: await read(readSchedules),
    database: await read(async (tx) => ({
      ...(await readDatabase(tx)),
      isElsewhere: facts.dataDir === null,
    })),
    tables: await read(async (tx) =>
      (await listLargestTables(tx, LARGEST_TABLES)).map((table) => ({
        ...table,
        bytesPerDay: projection?.tableBytesPerDay[table.name] ?? null,
      })),
    ),
    disk,
    growth: projection?.growth ?? null,
  };
}

async function readFindings({ database, facts }: InstallationParts): Promise<Installation["findings"]> {
  const isElsewhere = facts.dataDir === null;
  const findings = await examineQuickly({ database, dataDir: facts.folder, isElsewhere });
  return findings.map(({ advice = null, ...finding }) => ({ ...finding, advice }));
}

async function readProcesses(tx: Tx): Promise<Processes> {
  const rows = await listProcesses(tx, { aliveSeconds: ALIVE_SECONDS, limit: INSTALLATION_ITEMS });
  return rows.map((row) => ({
    ...row,
    startedAt: row.startedAt.toISOString(),
    seenAt: row.seenAt.toISOString(),
  }));
}

/** Returns the transports with the outages that live processes report. The local mailbox has none. */
function transportsOf(
  { staysHere, transportName }: InstanceFacts,
  watches: readonly TransportWatch[],
  senders: ReadonlyArray<{ isAlive: boolean; outages: string[] }>,
): Transports {
  if (staysHere) return [{ label: transportName, outage: null }];
  const outages = senders.filter(({ isAlive }) => isAlive).flatMap((one) => one.outages);
  return watches.map(({ label, outageStart }) => ({
    label,
    outage: outages.find((outage) => outage.startsWith(outageStart)) ?? null,
  }));
}

async function readThrottledDomains(tx: Tx): Promise<Installation["throttledDomains"]> {
  return (await listThrottledDomains(tx, INSTALLATION_ITEMS)).map((row) => ({
    project: projectOf(row),
    campaignId: row.campaignId,
    destination: row.destination,
    reply: row.reply,
    since: row.since.toISOString(),
    nextTryAt: row.tryAt.toISOString(),
  }));
}

const projectOf = ({ projectId, projectName }: { projectId: string; projectName: string }) => ({
  id: projectId,
  name: projectName,
});

/** Emails without a due time come last. A number, because infinite times have no difference. */
const dueMs = ({ oldestDueAt }: WaitingRow) => oldestDueAt?.getTime() ?? Number.MAX_SAFE_INTEGER;

/** Stopped queues come last, so that the email of many suspended projects doesn't hide what should leave. */
const isStopped = ({ isOpen, campaignState }: WaitingRow) => !isOpen || (campaignState ?? "OPEN") !== "OPEN";

async function readQueues(tx: Tx, sending: Sending): Promise<Installation["queues"]> {
  const rows = [...(await listProjectQueues(tx, LIMITS)), ...(await listCampaignQueues(tx, LIMITS))];
  return rows
    .toSorted((one, other) => Number(isStopped(one)) - Number(isStopped(other)) || dueMs(one) - dueMs(other))
    .slice(0, INSTALLATION_ITEMS)
    .map((row) => ({
      project: row.projectId === SYSTEM_PROJECT_ID ? null : projectOf(row),
      kind: EMAIL_KINDS[row.priority - 1] ?? "TRANSACTIONAL",
      campaign: row.campaignId === null ? null : { id: row.campaignId, name: row.campaignName ?? "" },
      waiting: row.waiting,
      due: row.due,
      held: row.held,
      oldestDueAt: row.oldestDueAt?.toISOString() ?? null,
      reason: reasonOf(row, sending),
    }));
}

async function readJobs(tx: Tx): Promise<Installation["jobs"]> {
  return (await listInstallationJobs(tx, INSTALLATION_ITEMS)).map((row) => ({
    id: row.id,
    project: projectOf(row),
    kind: row.kind,
    state: row.state as JobState,
    isLate: row.isLate,
    failures: row.failures,
    failedReason: row.failedReason,
    createdAt: row.createdAt.toISOString(),
  }));
}

async function readSchedules(tx: Tx): Promise<Installation["schedules"]> {
  return (await listSchedules(tx, INSTALLATION_ITEMS)).map((row) => ({
    kind: row.kind as "CAMPAIGN" | "WORKFLOW",
    id: row.id,
    name: row.name,
    project: projectOf(row),
    at: row.at.toISOString(),
    isLate: row.isLate,
  }));
}

/**
 * Returns projects by a search text, disabled ones first.
 * @throws an error of the database if it takes too long
 */
export async function listAdminProjects(
  database: Database,
  search: string | undefined,
): Promise<z.output<(typeof listInstallationProjects)["responses"][200]>> {
  const text = search === undefined || search.trim() === "" ? null : search.trim();
  const { rows, total } = await transaction(database, async (tx) => {
    await limitStatements(tx, TIME_LIMIT_MS);
    return listInstallationProjectRows(tx, text, INSTALLATION_ITEMS);
  });
  const data = rows.map((row) => ({
    id: row.id,
    name: row.name,
    owner: row.owner,
    createdAt: row.createdAt.toISOString(),
    disabled: row.disabled,
    removal: row.removal as "RESET" | "DELETE" | null,
    sendingRate: row.sendingRate,
    caps: { transactional: row.transactional, campaigns: row.campaigns, workflows: row.workflows },
    sentLast30Days: row.sent,
  }));
  return { data, total };
}
