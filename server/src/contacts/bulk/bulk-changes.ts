// One change for many contacts: whom it means is fixed when it is asked for, then a job goes through them.
import type { BulkOperation, BulkResult } from "@postloft/contract/contact-bulk.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { addJob, readJob, type JobView } from "../../platform/background/jobs.ts";
import { Refusal } from "../../platform/refusal.ts";
import { conditionsOf, type ContactFilter, type Membership } from "../list-contacts.ts";
import { idBytesOf } from "../list-queries.ts";
import { packIds } from "./rules.ts";

export const BULK_KIND = "contacts.bulk";

/** Contacts by their ids, or all that match now. */
export type BulkTarget =
  | { contactIds: readonly string[] }
  | { filter: ContactFilter; excludeIds: readonly string[] };

export interface BulkInput {
  operation: BulkOperation;
  /** Who asked for it, as the consent log says it: the id of a user, or `key`. */
  actor: string;
}

/**
 * Queues the change; returns the id of its job. The ids are kept as the job's file, so that a step reads its own part and
 * whoever begins to match later is not touched. @throws Refusal SEGMENT_NOT_FOUND; VALIDATION_ERROR for filters that stand on a segment that is none.
 */
export async function startBulk(
  tx: Tx,
  projectId: string,
  input: BulkInput,
  target: BulkTarget,
  membership: Membership,
): Promise<string> {
  const bytes = await idsOf(tx, projectId, target, membership);
  return addJob(tx, { projectId, kind: BULK_KIND, input, bytes });
}

async function idsOf(
  tx: Tx,
  projectId: string,
  target: BulkTarget,
  membership: Membership,
): Promise<Buffer | RawBuilder<Buffer>> {
  if ("contactIds" in target) return packIds(target.contactIds);
  const place = { field: "filter.filters" };
  const conditions = await conditionsOf(tx, projectId, target.filter, membership, place);
  return idBytesOf(projectId, conditions, target.excludeIds);
}

/** @throws Refusal JOB_NOT_FOUND, the same for a job of another project or of another kind. */
export async function getBulk(
  database: Database,
  projectId: string,
  id: string,
): Promise<JobView<BulkResult>> {
  const job = isId(id) ? await readJob<BulkResult>(database, { projectId, id }, [BULK_KIND]) : undefined;
  if (job === undefined) throw new Refusal("JOB_NOT_FOUND");
  return job;
}

/** How many contacts one step changes: a tenth of a second, and few enough locks that nobody waits long. */
export const CONTACTS_A_STEP = LIMITS.bulkContacts.value;
