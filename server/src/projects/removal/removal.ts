// Resets and deletes projects: requested with the project's name, executed by a job in batches. Sending stops immediately.
import { addJob, deleteJobsBeside, type JobStep } from "../../platform/background/jobs.ts";
import { nowMs } from "../../platform/clock.ts";
import {
  databaseErrorCode,
  subtransaction,
  type Database,
  type Tx,
} from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import { deleteTenantRows, listTenantTables, type TenantTable } from "../../platform/database/tenant-rows.ts";
import { openOrCloseProjectQueues } from "../../emails/outbox/queues.ts";
import { recordAudit, SERVICE, type Actor } from "../../audit/audit-log.ts";
import { listMembers, requireAdmin } from "../members/members.ts";
import { sendNotice } from "../members/project-notices.ts";
import {
  deleteProjectRow,
  endResetRow,
  findName,
  hasClaimedEmails,
  lockForRemoval,
  startRemovalRow,
} from "./queries.ts";

export const RESET_JOB = "project-reset";
export const DELETION_JOB = "project-deletion";
export const REMOVAL_JOBS: readonly string[] = [RESET_JOB, DELETION_JOB];

/** Small tables that are deleted with the project itself or kept afterwards: members, keys and logs. */
const LAST: readonly string[] = [
  "api_keys",
  "audit_heads",
  "audit_log",
  "invitations",
  "jobs",
  "memberships",
  "project_queues",
  "scoped_keys",
  "webhook_secrets",
];
/** A reset also keeps the domains, the sending history, and the suppressed addresses. */
export const KEPT: Readonly<Record<"RESET" | "DELETE", ReadonlySet<string>>> = {
  RESET: new Set([
    ...LAST,
    "billing_customers",
    "billing_limits",
    "billing_usage",
    "domain_record_changes",
    "domains",
    "email_retentions",
    "event_retentions",
    "link_domains",
    "opt_outs",
    "project_suspensions",
    "project_transports",
    "sending_hours",
    "suppressions",
    "told_members",
  ]),
  DELETE: new Set(LAST),
};

/** A batch takes well under a second even for rows with many indexes. */
const BATCH_ROWS = 2_000;
/** SQLSTATE of a row that other rows refer to. */
const REFERRED_TO = "23503";
/** Longer than any submission takes. */
const PATIENCE_MS = 600_000;
const POLL_MS = 250;

/** The version of the project's customer after its checkouts ended, undefined without a customer. Null while billing is off. */
export type EndedCheckouts = { version: number | undefined } | null;

/** Functions of billing/ for a project. Provided by api.ts. */
export interface Payment {
  /** Expires open checkouts that could start a subscription. */
  endCheckouts: (projectId: string) => Promise<EndedCheckouts>;
  /** @throws AppError CONFLICT if a subscription exists or could still start */
  requireUnpaid: (tx: Tx, projectId: string, ended: EndedCheckouts) => Promise<void>;
}

/**
 * Checks the name before anything outside the database changes.
 * @throws AppError VALIDATION_ERROR on `confirm`
 */
export async function requireName(database: Database, projectId: string, confirm: string): Promise<void> {
  refuseOtherName(await findName(database, projectId), confirm);
}

function refuseOtherName(name: string | undefined, confirm: string): void {
  if (name === undefined) throw new AppError("PROJECT_NOT_FOUND");
  if (name !== confirm) throw invalidField("confirm", "custom", "Must be the exact name of the project.");
}

/**
 * Disables the project, queues the job and returns its id.
 *
 * @param confirm the project's name as typed by the person
 * @throws AppError VALIDATION_ERROR on `confirm`; CONFLICT while a removal is running; FORBIDDEN if the actor is no longer an admin;
 * PROJECT_DISABLED for a reset of a disabled project
 */
export async function requestRemoval(
  tx: Tx,
  {
    projectId,
    removal,
    confirm,
    actor,
  }: { projectId: string; removal: "RESET" | "DELETE"; confirm: string; actor: Actor },
): Promise<string> {
  const project = await lockForRemoval(tx, projectId);
  refuseOtherName(project?.name, confirm);
  requireAdmin(await listMembers(tx, projectId), actor);
  if (project?.isRunning === true)
    throw new AppError("CONFLICT", { message: "The project is already being reset or deleted." });
  // It would be enabled at the end.
  if (removal === "RESET" && project?.disabled === true) throw new AppError("PROJECT_DISABLED");
  const kind = removal === "RESET" ? RESET_JOB : DELETION_JOB;
  const jobId = await addJob(tx, { projectId, kind, input: {} });
  await startRemovalRow(tx, projectId, { removal, jobId });
  await openOrCloseProjectQueues(tx, [projectId], false);
  const notice = removal === "RESET" ? "resetRequested" : "deletionRequested";
  await sendNotice(tx, { projectId, notice, actor });
  const action = removal === "RESET" ? "project.resetRequested" : "project.deletionRequested";
  await recordAudit(tx, [{ projectId, actor, action, details: { name: confirm } }]);
  return jobId;
}

/** Stores the opt-outs of a batch of contacts. Returns the last one's id, or null at the end. Provided by worker.ts. */
export type KeepOptOuts = (
  tx: Tx,
  projectId: string,
  after: string | null,
  limit: number,
) => Promise<string | null>;

interface Checkpoint {
  /** The last contact with a stored opt-out, because opt-outs are stored before the deletion begins. Missing after the last one. */
  keptTo?: string | null;
  /** The current table; null before the first. */
  table: string | null;
  deleted: number;
  /** Rows deleted in this pass through all tables. Another pass follows, because requests in progress may have added rows. */
  deletedInRound: number;
}

const START: Checkpoint = { keptTo: null, table: null, deleted: 0, deletedInRound: 0 };

/**
 * Returns a job step that deletes one batch. The job ends after a pass that found nothing.
 *
 * @param keepOptOuts for a reset; a deleted project has no opt-outs to keep
 */
export const removalStep =
  (removal: "RESET" | "DELETE", keepOptOuts: KeepOptOuts = async () => null): JobStep =>
  async (tx, { projectId, id, checkpoint, createdAt }) => {
    await failpoint("removal.step");
    if (checkpoint === null) await deleteJobsBeside(tx, { projectId, id });
    const at = (checkpoint ?? START) as Checkpoint;
    if (at.table === null && at.deleted === 0 && (await isStillSending(tx, projectId, createdAt)))
      return { done: false, checkpoint: START, progress: 0 };
    if (at.keptTo !== undefined) {
      const keptTo = await keepOptOuts(tx, projectId, at.keptTo, BATCH_ROWS);
      if (keptTo !== null) return { done: false, checkpoint: { ...START, keptTo }, progress: 0 };
    }
    const tables = (await listTenantTables(tx)).filter(({ name }) => !KEPT[removal].has(name));
    let { deleted, deletedInRound } = at;
    let place = Math.max(
      0,
      tables.findIndex(({ name }) => name === at.table),
    );
    for (let left = BATCH_ROWS; left > 0; place++) {
      const table = tables[place];
      if (table === undefined) break;
      const count = await deletedOf(tx, table, projectId, left);
      // A request in progress added rows that refer to these, so the pass begins again.
      if (count === null)
        return { done: false, checkpoint: { table: null, deleted, deletedInRound: 0 }, progress: 0 };
      left -= count;
      deleted += count;
      deletedInRound += count;
      if (left === 0) break;
    }
    const table = tables[place];
    if (table !== undefined || deletedInRound > 0) {
      const next = {
        table: table?.name ?? null,
        deleted,
        deletedInRound: table === undefined ? 0 : deletedInRound,
      };
      return { done: false, checkpoint: next, progress: (place / tables.length) * 100 };
    }
    await end(tx, projectId, removal, deleted);
    return { done: true, result: { deletedRows: deleted } };
  };

/** Deletes rows of a table and returns how many, or null if rows of an earlier table refer to one of them. */
async function deletedOf(
  tx: Tx,
  table: TenantTable,
  projectId: string,
  limit: number,
): Promise<number | null> {
  try {
    return await subtransaction(tx, () => deleteTenantRows(tx, table, projectId, limit));
  } catch (error) {
    if (databaseErrorCode(error) === REFERRED_TO) return null;
    throw error;
  }
}

/** Waits for the results of emails that a sender had claimed when the project was disabled, up to a limit. */
async function isStillSending(tx: Tx, projectId: string, since: Date): Promise<boolean> {
  if (nowMs() - since.getTime() > PATIENCE_MS || !(await hasClaimedEmails(tx, projectId))) return false;
  await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  return true;
}

async function end(tx: Tx, projectId: string, removal: "RESET" | "DELETE", deleted: number): Promise<void> {
  if (removal === "DELETE") await deleteProjectRow(tx, projectId);
  else {
    await endResetRow(tx, projectId);
    await openOrCloseProjectQueues(tx, [projectId], true);
  }
  await recordAudit(tx, [
    {
      projectId,
      actor: SERVICE,
      action: removal === "RESET" ? "project.reset" : "project.deleted",
      details: { deletedRows: deleted },
    },
  ]);
}
