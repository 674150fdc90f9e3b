// Bulk changes of contacts. The target contacts are fixed when the change is requested, then a job processes them.
import type { BulkOperation, BulkResult } from "@postloft/contract/contact-bulk.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { addJob, readJob, type JobView } from "../../platform/background/jobs.ts";
import { AppError, invalidField } from "../../platform/app-error.ts";
import { conditionsOf, type ContactFilter, type Membership } from "../list-contacts.ts";
import { idBytesOf } from "../list-queries.ts";
import { findAddresses } from "../queries.ts";
import { readDataPatch, type DataPatch } from "../rules.ts";
import { packIds } from "./rules.ts";

export const BULK_KIND = "contacts.bulk";

/** Contacts by their ids, or all contacts that match a filter now. */
export type BulkTarget =
  | { contactIds: readonly string[] }
  | { filter: ContactFilter; excludeIds: readonly string[] };

/** The change of each contact. */
export type BulkChange =
  | { operation: Exclude<BulkOperation, "update" | "addToSegment"> }
  | { operation: "update"; patch: DataPatch }
  | { operation: "addToSegment"; segmentId: string };

export type BulkInput = BulkChange & {
  /** The requester for the consent log: the id of a user, or `key`. */
  actor: string;
};

/**
 * Returns the change that sets fields as `data` of one contact does.
 * @throws AppError VALIDATION_ERROR if the data changes no contact.
 */
export function settingFields(data: Readonly<Record<string, unknown>>): BulkChange {
  const { set, remove } = readDataPatch(data);
  if (Object.keys(set).length === 0 && remove.length === 0)
    throw invalidField(
      "data",
      "custom",
      "Changes nothing. Set at least one field to a value, or to null to remove the field.",
    );
  return { operation: "update", patch: { set, remove, transient: {} } };
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

/**
 * Returns the job, with the addresses that failed contacts have now.
 * @throws AppError JOB_NOT_FOUND, also for a job of another project or another kind.
 */
export async function getBulk(
  database: Database,
  projectId: string,
  id: string,
): Promise<JobView<BulkResult>> {
  const job = isId(id) ? await readJob<BulkResult>(database, { projectId, id }, [BULK_KIND]) : undefined;
  if (job === undefined) throw new AppError("JOB_NOT_FOUND");
  const { result } = job;
  if (result === null || result.errors.length === 0) return job;
  const ids = result.errors.map(({ contactId }) => contactId);
  const emails = new Map((await findAddresses(database, projectId, ids)).map((row) => [row.id, row.email]));
  const errors = result.errors.map((one) => ({ ...one, email: emails.get(one.contactId) ?? null }));
  return { ...job, result: { ...result, errors } };
}

/** Contacts changed per step, which takes a tenth of a second and keeps the number of locks small. */
const CONTACTS_A_STEP = LIMITS.bulkContacts.value;

/** Characters of JSON that one step sends. The data is sent once for each contact, and can have a megabyte. */
const CHARACTERS_A_STEP = 4_000_000;

/** Returns the number of contacts of one step. */
export function contactsAStep(input: BulkInput): number {
  if (input.operation !== "update") return CONTACTS_A_STEP;
  const fitting = Math.floor(CHARACTERS_A_STEP / JSON.stringify(input.patch).length);
  return Math.max(1, Math.min(CONTACTS_A_STEP, fitting));
}
