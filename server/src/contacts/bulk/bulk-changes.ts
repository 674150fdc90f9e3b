// Bulk changes of contacts. The target contacts are fixed when the change is requested, then a job processes them.
import type { BulkOperation, BulkResult } from "@postloft/contract/contact-bulk.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { addJob, readJob, type JobView } from "../../platform/background/jobs.ts";
import { AppError } from "../../platform/app-error.ts";
import { conditionsOf, type ContactFilter, type Membership } from "../list-contacts.ts";
import { idBytesOf } from "../list-queries.ts";
import { packIds } from "./rules.ts";

export const BULK_KIND = "contacts.bulk";

/** Contacts by their ids, or all contacts that match a filter now. */
export type BulkTarget =
  | { contactIds: readonly string[] }
  | { filter: ContactFilter; excludeIds: readonly string[] };

export interface BulkInput {
  operation: BulkOperation;
  /** The requester for the consent log: the id of a user, or `key`. */
  actor: string;
}

/**
 * Queues the change and returns the id of its job. The ids are stored as the job's file, so that each step reads its own part and contacts
 * that match later stay unchanged.
 * @throws AppError SEGMENT_NOT_FOUND, or VALIDATION_ERROR if the filters name an unknown segment.
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

/** @throws AppError JOB_NOT_FOUND, also for a job of another project or another kind. */
export async function getBulk(
  database: Database,
  projectId: string,
  id: string,
): Promise<JobView<BulkResult>> {
  const job = isId(id) ? await readJob<BulkResult>(database, { projectId, id }, [BULK_KIND]) : undefined;
  if (job === undefined) throw new AppError("JOB_NOT_FOUND");
  return job;
}

/** Contacts changed per step, which takes a tenth of a second and keeps the number of locks small. */
export const CONTACTS_A_STEP = LIMITS.bulkContacts.value;
