// The job `contacts.import`, which applies the rows of a file to contacts, the suppression list and a segment.
import { hashAddress } from "../../platform/address-hash.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { JobStep } from "../../platform/background/jobs.ts";
import { enqueueContactEvents } from "../../reactions/reactions.ts";
import type { TargetSegments } from "../bulk/apply-change.ts";
import { contactFault } from "../constraint-errors.ts";
import { listOptOuts } from "../opt-out-queries.ts";
import { findEmails, findSubscriptions } from "../queries.ts";
import { readAddresses } from "./address-reader.ts";
import type { ImportInput } from "./import-input.ts";
import { stepOfImport, type AppliedCounts, type ImportingJob } from "./import-step.ts";
import { createContactReader, type ContactRow } from "./read-contact-row.ts";
import type { AddressChange } from "./read-part.ts";
import { recordJoined, upsertRecorded } from "./record-changes.ts";

export const IMPORT_KIND = "contacts.import";

/** Effects of an import in later folders, run in the transaction of the step. */
export interface ImportConsequences extends TargetSegments {
  /** Adds addresses to the suppression list. */
  suppress(tx: Tx, projectId: string, emails: readonly string[], actor: string): Promise<void>;
  /** Returns the addresses of contacts that are members. */
  findMembers(
    tx: Tx,
    projectId: string,
    segmentId: string,
    emails: readonly string[],
  ): Promise<ReadonlySet<string>>;
}

/** Returns the step function of contact imports. */
export function createImportStep(consequences: ImportConsequences): JobStep {
  return stepOfImport<ContactRow>({
    createReader: createContactReader,
    apply: (tx, job, rows) => apply(consequences, tx, job, rows),
    rehearsal: {
      readAddresses,
      rehearse: (tx, job, rows, known) => rehearse(consequences, tx, job, rows, known),
    },
    explain: (error) => contactFault(error) ?? undefined,
  });
}

/** An unsubscribed contact stays unsubscribed, unless the caller allowed resubscribing. */
async function apply(
  { suppress, lockSegment, addToSegment }: ImportConsequences,
  tx: Tx,
  job: ImportingJob,
  rows: readonly ContactRow[],
): Promise<AppliedCounts> {
  const { projectId, input } = job;
  const { actor, resubscribe, segmentId } = input;
  const isSegmentThere = segmentId !== null && (await lockSegment(tx, projectId, segmentId));
  const via = { source: "import" as const, actor, ip: null };
  const outcomes = await upsertRecorded(
    tx,
    job,
    rows.map(({ email, status, patch }) => ({
      projectId,
      email,
      ...(status === undefined ? {} : { subscribed: status === "subscribed" }),
      subscribedIfNew: true,
      resubscribes: resubscribe,
      patch,
      via,
    })),
  );
  const ids = new Set(outcomes.flatMap(({ contactId, isChanged }) => (isChanged ? [contactId] : [])));
  await enqueueContactEvents(
    tx,
    [...ids].map((contactId) => ({ projectId, contactId })),
  );
  const suppressed = rows.flatMap(({ email, status }) => (status === "suppressed" ? [email] : []));
  if (suppressed.length > 0) await suppress(tx, projectId, suppressed, actor);
  const emails = [...new Set(rows.map(({ email }) => email))];
  const joined = isSegmentThere ? await addToSegment(tx, projectId, segmentId, emails) : [];
  // Created contacts need no record, because an undo deletes them with their memberships.
  const created = new Set(outcomes.flatMap(({ contactId, isNew }) => (isNew ? [contactId] : [])));
  const older = joined.filter((id) => !created.has(id));
  if (segmentId !== null) await recordJoined(tx, job, segmentId, older);
  return {
    created: outcomes.filter(({ isNew }) => isNew).length,
    keptUnsubscribed: outcomes.filter(
      ({ isKeptUnsubscribed }, at) => isKeptUnsubscribed && rows[at]?.status === "subscribed",
    ).length,
    segmentAdded: joined.length,
    segmentMissed: segmentId === null || isSegmentThere ? 0 : emails.length,
  };
}

async function rehearse(
  { findMembers }: ImportConsequences,
  tx: Tx,
  { projectId, input }: ImportingJob,
  rows: readonly AddressChange[],
  known: Map<string, boolean>,
): Promise<AppliedCounts> {
  const unseen = [...new Set(rows.map(({ email }) => email))].filter((email) => !known.has(email));
  const counts = { created: 0, keptUnsubscribed: 0, segmentAdded: 0 };
  const there = await findThere(tx, projectId, input, unseen);
  if (input.segmentId !== null) {
    const members = await findMembers(tx, projectId, input.segmentId, unseen);
    counts.segmentAdded = unseen.length - members.size;
  }
  for (const [email, subscribed] of there) known.set(email, subscribed);
  const missing = unseen.filter((email) => !there.has(email));
  const optedOut = await findOptedOut(tx, projectId, input, missing);
  for (const { email, status } of rows) {
    const before = known.get(email);
    if (before === undefined) counts.created++;
    const isSubscribed = before ?? !optedOut.has(email);
    const isKept = !isSubscribed && status === "subscribed" && !input.resubscribe;
    if (isKept) counts.keptUnsubscribed++;
    known.set(email, status === undefined || isKept ? isSubscribed : status === "subscribed");
  }
  return counts;
}

const hasStatus = ({ columns }: ImportInput) => columns.some(({ target }) => target === "status");

/** Whether those of the addresses that are contacts are subscribed. Without a status column no count depends on it, and an index is enough. */
async function findThere(
  tx: Tx,
  projectId: string,
  input: ImportInput,
  emails: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  if (hasStatus(input)) return findSubscriptions(tx, projectId, emails);
  return new Map([...(await findEmails(tx, projectId, emails))].map((email) => [email, true]));
}

/** Those of the addresses, which no contact has, that opted out. Without a status column no count depends on it, and hashing is slow. */
async function findOptedOut(
  tx: Tx,
  projectId: string,
  input: ImportInput,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  if (emails.length === 0 || !hasStatus(input)) return new Set();
  const hashes = emails.map((email) => hashAddress(projectId, email));
  const optedOut = await listOptOuts(tx, projectId, hashes);
  return new Set(emails.filter((_, at) => optedOut.has(hashes[at] ?? "")));
}
