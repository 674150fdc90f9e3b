// Verifies the hash chains of the consent log from the first checkpoint on and reports where a chain is broken. Runs in installation
// checks.
import type { Database } from "../../platform/database/database.ts";
import { NO_ID } from "../../platform/ids.ts";
import {
  countChanges,
  findEntries,
  findErased,
  findUncheckpointed,
  isCheckpointLate,
  listCheckpointedProjects,
  listCheckpoints,
  readCheckpointed,
  type HeadRow,
  type CheckpointRow,
} from "./queries.ts";
import { DIGEST_BYTES, digestOf, FIRST_HASH, hashCheckpoint } from "./rules.ts";

const CHECKPOINTS_PER_READ = 20;
const PROJECTS_AT_ONCE = 500;
/** Allowed correction of a database clock. */
const TOLERANCE_MS = 3_600_000;
const LATE_MINUTES = 15;

export interface ConsentFault {
  projectId: string;
  /** `seal` means that the chain itself was changed. */
  what: "changed" | "missing" | "inserted" | "seal";
  /** The position of the row, or the number of the checkpoint. */
  position: number;
  /** Null if the contact is unknown. */
  contactId: string | null;
}

interface Walk {
  hash: Buffer;
  /** All rows from before this time have a checkpoint. */
  completeTo: Date | null;
  /** Rows that matched, up to the position that was checkpointed when the walk began. */
  found: number;
}

/** Verifies the chain of a project up to the given head. Returns the first fault, or null. */
async function verifyProject(
  database: Database,
  head: HeadRow,
  checkpointed: number,
): Promise<ConsentFault | null> {
  const projectId = head.projectId;
  const broken = (number: number): ConsentFault => ({
    projectId,
    what: "seal",
    position: number,
    contactId: null,
  });
  let walk: Walk = { hash: FIRST_HASH, completeTo: null, found: 0 };
  let number = 0;
  for (let hasMore = true; hasMore;) {
    const checkpoints = await listCheckpoints(database, projectId, {
      after: number,
      upTo: head.number,
      limit: CHECKPOINTS_PER_READ,
    });
    for (const checkpoint of checkpoints) {
      if (checkpoint.number !== number + 1) return broken(number + 1);
      const next = await verifyCheckpoint(database, checkpoint, walk, checkpointed);
      if ("what" in next) return next;
      walk = next;
      number = checkpoint.number;
    }
    hasMore = checkpoints.length === CHECKPOINTS_PER_READ;
  }
  if (number < head.number) return broken(number + 1);
  if (!walk.hash.equals(head.hash)) return broken(number);
  if ((await countChanges(database, projectId, checkpointed)) <= walk.found) return null;
  const extra = await findUncheckpointed(database, projectId, checkpointed);
  if (extra === undefined) return null;
  return { projectId, what: "inserted", ...extra };
}

async function verifyCheckpoint(
  database: Database,
  checkpoint: CheckpointRow,
  walk: Walk,
  checkpointed: number,
): Promise<Walk | ConsentFault> {
  const { projectId, positions, digests } = checkpoint;
  const hash = hashCheckpoint(walk.hash, checkpoint);
  if (!hash.equals(checkpoint.hash) || digests.length !== positions.length * DIGEST_BYTES)
    return { projectId, what: "seal", position: checkpoint.number, contactId: null };
  const entries = await findEntries(database, projectId, positions);
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
  const gone = positions.filter((position) => !byPosition.has(position));
  const erased = gone.length === 0 ? new Set() : await findErased(database, projectId, gone);
  for (const [at, position] of positions.entries()) {
    const entry = byPosition.get(position);
    if (entry === undefined) {
      if (erased.has(position)) continue;
      return { projectId, what: "missing", position, contactId: null };
    }
    const contactId = entry.kind === "change" ? entry.contactId : null;
    const digest = digests.subarray(at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES);
    if (!digestOf(entry).equals(digest)) return { projectId, what: "changed", position, contactId };
    // This row was inserted after the chain was complete for its time, so its time is forged.
    if (walk.completeTo !== null && Date.parse(entry.at) < walk.completeTo.getTime() - TOLERANCE_MS)
      return { projectId, what: "inserted", position, contactId };
  }
  return {
    hash,
    completeTo: checkpoint.completeTo ?? walk.completeTo,
    found:
      walk.found +
      entries.filter(({ kind, position }) => kind === "change" && position <= checkpointed).length,
  };
}

/** Verifies the chains of all projects and returns the first fault of each broken one. */
export async function verifyConsentLogs(database: Database): Promise<ConsentFault[]> {
  // Read before the heads. Rows that get a checkpoint during this run are verified next time.
  const checkpointed = await readCheckpointed(database);
  const faults: ConsentFault[] = [];
  for (let last = NO_ID; ;) {
    const heads = await listCheckpointedProjects(database, last, PROJECTS_AT_ONCE);
    for (const head of heads)
      faults.push(...[await verifyProject(database, head, checkpointed)].flatMap((fault) => fault ?? []));
    const end = heads.at(-1);
    if (end === undefined || heads.length < PROJECTS_AT_ONCE) return faults;
    last = end.projectId;
  }
}

/** Returns whether rows have waited for a checkpoint for too long, because no process with the role `worker` runs. */
export async function isConsentCheckpointedLate(database: Database): Promise<boolean> {
  return isCheckpointLate(database, await readCheckpointed(database), LATE_MINUTES);
}
