// Adds transports of projects to a database and changes them, as the API does.
import type { Sealer } from "../platform/crypto.ts";
import { createSealer } from "../platform/crypto.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { changeOwnTransports } from "../emails/outbox/queues.ts";
import { createOwnTransports, type OwnTransports } from "../emails/sending/own-transports.ts";
import {
  deleteProjectTransport,
  insertProjectTransport,
  listProjectTransports,
  updateProjectTransport,
  type TransportChanges,
} from "../transports/own/stored.ts";
import { contextOfTransport } from "../transports/own/url.ts";

export interface OwnTransportsFixture {
  /** Adds a transport to a project and returns its id. */
  add(projectId: string, url: string, match?: { kinds?: string[]; domain?: string }): Promise<string>;
  change(projectId: string, id: string, changes: TransportChanges & { to?: string }): Promise<void>;
  remove(projectId: string, id: string): Promise<void>;
  /** The transports of a new process, which may connect to any address. */
  open(): OwnTransports;
}

export function ownTransportsOf(
  database: Database,
  sealer: Sealer = createSealer("a secret of the test"),
): OwnTransportsFixture {
  const commit = (projectId: string, work: (tx: Tx) => Promise<unknown>) =>
    transaction(database, async (tx) => {
      await work(tx);
      const left = await listProjectTransports(tx, projectId);
      await changeOwnTransports(
        tx,
        projectId,
        left.some(({ enabled }) => enabled),
      );
    });
  return {
    async add(
      projectId,
      url,
      { kinds = null, domain = null }: { kinds?: string[] | null; domain?: string | null } = {},
    ) {
      const id = newId();
      const sealed = sealer.seal(url, contextOfTransport(projectId, id));
      const row = { projectId, id, name: "Test", url: "hidden", sealed, kinds, domain, enabled: true };
      await commit(projectId, (tx) => insertProjectTransport(tx, row));
      return id;
    },
    change: (projectId, id, { to, ...changes }) =>
      commit(projectId, (tx) =>
        updateProjectTransport(tx, projectId, id, {
          ...changes,
          ...(to === undefined ? {} : { sealed: sealer.seal(to, contextOfTransport(projectId, id)) }),
        }),
      ),
    remove: (projectId, id) => commit(projectId, (tx) => deleteProjectTransport(tx, projectId, id)),
    open: () =>
      createOwnTransports({
        database,
        sealer,
        heloName: "client.test",
        findAddresses: async (host) => [host],
        log: createLog({ level: "silent" }),
      }),
  };
}
