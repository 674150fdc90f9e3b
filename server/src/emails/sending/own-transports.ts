// Opens the transports of projects when their email needs them, keeps a bounded number open and follows their changes
// (docs/decisions/0153-a-transport-per-project.md).
import { LRUCache } from "lru-cache";
import type { EmailKind } from "@postloft/contract/emails.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import { chooseTransport, type Match } from "../../transports/own/choose-transport.ts";
import {
  createBrokenTransport,
  createProjectTransport,
  type FindAddresses,
} from "../../transports/own/server.ts";
import { recordOutage } from "../../transports/own/stored.ts";
import { contextOfTransport, parseProjectUrl } from "../../transports/own/url.ts";
import type { Transport } from "../../transports/transport.ts";
import type { ChosenTransport } from "../rows/prepared.ts";
import { readOwnTransports, type OwnTransportRow } from "./own-transport-queries.ts";

/** Chooses the transport of an email of one project. */
export type Choose = (email: { kind: EmailKind; domain: string }) => ChosenTransport;

export interface OwnTransports {
  /** Returns how to choose among the transports of a project. Reads them if `queueVersion` is not the known one. */
  of(projectId: string, queueVersion: string): Promise<Choose>;
  close(): Promise<void>;
}

export interface OwnTransportOptions {
  database: Database;
  sealer: Sealer;
  heloName: string;
  findAddresses: FindAddresses;
  log: Log;
}

interface Opened extends Match {
  id: string;
  updatedAtMs: number;
  transport: Transport;
  /** Closes the transport as soon as no email is on its way through it. */
  retire(): void;
}

interface ProjectEntry {
  version: string;
  opened: readonly Opened[];
}

/** Projects with open transports in one process. The least recently used one is closed first. */
const MAX_PROJECTS = 200;
/** Transports that no email needed for this long are closed. */
const IDLE_MS = 10 * 60_000;
const UNREADABLE =
  "The credentials of the transport cannot be read because the application secret changed. Enter its URL again.";

/** For installations that keep all email in the local mailbox. It never leaves through a transport of a project. */
export const NO_OWN_TRANSPORTS: OwnTransports = {
  of: async (_projectId, queueVersion) => () => ({ own: null, queueVersion }),
  close: async () => undefined,
};

/** Returns whether an open transport is the one of a row, without a change since. */
const isOf = (row: OwnTransportRow) => (one: Opened) =>
  one.id === row.id && one.updatedAtMs === row.updatedAt.getTime();

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createOwnTransports(options: OwnTransportOptions): OwnTransports {
  const { database, sealer, log } = options;
  const open = new Set<Transport>();
  const projects = new LRUCache<string, ProjectEntry>({
    max: MAX_PROJECTS,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    // A deleted entry hands the transports that did not change over to the next one.
    dispose: ({ opened }, _projectId, reason) => {
      if (reason === "evict" || reason === "expire") for (const { retire } of opened) retire();
    },
  });
  const reads = new Map<string, Promise<ProjectEntry>>();

  async function create(projectId: string, row: OwnTransportRow): Promise<Transport> {
    const { id } = row;
    try {
      const url = sealer.open(row.sealed, contextOfTransport(projectId, id));
      return await createProjectTransport(parseProjectUrl(url), {
        ...options,
        onOutage(reply) {
          log.info({ projectId, transportId: id, reply }, "the state of a project's transport changed");
          recordOutage(database, { projectId, id }, reply).catch((error: unknown) =>
            log.debug({ err: error, projectId, transportId: id }, "failed to store the state of a transport"),
          );
        },
      });
    } catch (error) {
      log.warn({ err: error, projectId, transportId: id }, "cannot use the transport of a project");
      return createBrokenTransport(UNREADABLE);
    }
  }

  async function openOne(projectId: string, row: OwnTransportRow): Promise<Opened> {
    const transport = await create(projectId, row);
    open.add(transport);
    let inUse = 0;
    let isRetired = false;
    const closeIfUnused = () => {
      if (!isRetired || inUse > 0 || !open.delete(transport)) return;
      transport
        .close()
        .catch((error: unknown) => log.debug({ err: error, projectId }, "failed to close a transport"));
    };
    return {
      id: row.id,
      kinds: row.kinds,
      domain: row.domain,
      updatedAtMs: row.updatedAt.getTime(),
      transport: {
        ...transport,
        async send(message, mayLeave) {
          // Prepared for a transport that has changed since, so it is prepared again.
          if (isRetired) return { kind: "withdrawn" };
          inUse += 1;
          try {
            return await transport.send(message, mayLeave);
          } finally {
            inUse -= 1;
            closeIfUnused();
          }
        },
      },
      retire() {
        isRetired = true;
        closeIfUnused();
      },
    };
  }

  async function read(projectId: string, queueVersion: string): Promise<ProjectEntry> {
    const found = await readOwnTransports(database, projectId);
    const known = projects.get(projectId)?.opened ?? [];
    projects.delete(projectId);
    const opened = await Promise.all(
      (found?.transports ?? []).map(async (row) => known.find(isOf(row)) ?? openOne(projectId, row)),
    );
    for (const one of known) if (!opened.includes(one)) one.retire();
    const entry = { version: found?.version ?? queueVersion, opened };
    projects.set(projectId, entry);
    return entry;
  }

  /** Lets concurrent callers share one read, so that no transport is opened twice. The pre-send check finds a stale result. */
  function readOnce(projectId: string, queueVersion: string): Promise<ProjectEntry> {
    const reading =
      reads.get(projectId) ?? read(projectId, queueVersion).finally(() => reads.delete(projectId));
    reads.set(projectId, reading);
    return reading;
  }

  return {
    async of(projectId, queueVersion) {
      const known = projects.get(projectId);
      const { opened, version } =
        known?.version === queueVersion ? known : await readOnce(projectId, queueVersion);
      return (email) => ({
        own: chooseTransport(opened, email)?.transport ?? null,
        queueVersion: version,
      });
    },
    async close() {
      projects.clear();
      await Promise.all([...open].map((transport) => transport.close()));
    },
  };
}
