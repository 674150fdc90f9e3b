// Reads and changes the transports of projects (docs/decisions/0153-a-transport-per-project.md).
import { now } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { updateTransportOutage } from "./queries.ts";

export {
  deleteProjectTransport,
  findSealedUrl,
  insertProjectTransport,
  listProjectTransports,
  updateProjectTransport,
  type ProjectTransportRow,
  type TransportChanges,
} from "./queries.ts";

/** Stores the reply of an outage, or null if the transport works again. */
export async function recordOutage(
  database: Database,
  key: { projectId: string; id: string },
  reply: string | null,
): Promise<void> {
  await updateTransportOutage(database, key, reply === null ? null : { reply, since: now() });
}
