// Disables projects with too many bounces or complaints, enables them again, and keeps their history.
import type { BadRate } from "@postloft/contract/security.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { mailLanguageOf, type MailLanguage } from "../emails/platform-email/mail-language.ts";
import { openOrCloseProjectQueues } from "../emails/outbox/queues.ts";
import { recordAudit, SERVICE, type Actor } from "../audit/audit-log.ts";
import { sendNotice } from "./members/project-notices.ts";
import {
  disableProjectRows,
  enableProjectRow,
  findStatuses,
  insertSuspensions,
  liftSuspensions,
  listMemberAddresses,
  listSuspensionRows,
  lockSuspended,
} from "./suspension-queries.ts";

export interface Suspension {
  projectId: string;
  /** Sentences in English. */
  reasons: readonly string[];
  /** The numbers behind the reasons. */
  rates: readonly BadRate[];
}

export interface SuspendedProject extends Suspension {
  name: string;
  /** All members with their email language. */
  members: Array<{ email: string; language: MailLanguage }>;
}

/** Disables the projects that are still enabled and returns them. Of two concurrent calls each project goes to one. */
export async function suspendProjects(
  tx: Tx,
  suspensions: readonly Suspension[],
): Promise<SuspendedProject[]> {
  if (suspensions.length === 0) return [];
  const rows = await disableProjectRows(
    tx,
    suspensions.map(({ projectId }) => projectId),
  );
  const names = new Map(rows.map((row) => [row.id, row.name]));
  const own = suspensions.filter(({ projectId }) => names.has(projectId));
  if (own.length === 0) return [];
  await openOrCloseProjectQueues(tx, [...names.keys()], false);
  await insertSuspensions(
    tx,
    own.map(({ projectId, reasons, rates }) => ({
      projectId,
      id: newId(),
      reasons: JSON.stringify(reasons),
      rates: JSON.stringify(rates),
    })),
  );
  await recordAudit(
    tx,
    own.map(({ projectId, reasons }) => ({
      projectId,
      actor: SERVICE,
      action: "project.suspended" as const,
      details: { reasons },
    })),
  );
  const members = Map.groupBy(await listMemberAddresses(tx, [...names.keys()]), (row) => row.projectId);
  return own.map(({ projectId, reasons, rates }) => ({
    projectId,
    reasons,
    rates,
    name: names.get(projectId) ?? "",
    members: (members.get(projectId) ?? []).map(({ email, language }) => ({
      email,
      language: mailLanguageOf(language),
    })),
  }));
}

/**
 * Disables a project for the instance admin, and emails its owners and admins the reason. Only an instance admin can enable it, because
 * earlier suspensions count as lifted. Returns false if an instance admin had disabled it before.
 *
 * @throws AppError PROJECT_NOT_FOUND, CONFLICT
 */
export async function disableProject(
  tx: Tx,
  { projectId, actor, reason }: { projectId: string; actor: Actor; reason: string },
): Promise<boolean> {
  const row = await lockSuspended(tx, projectId, LIMITS.selfEnableDays.value);
  if (row === undefined) throw new AppError("PROJECT_NOT_FOUND");
  // The end of a reset enables the project.
  if (row.isRemoved) throw new AppError("CONFLICT", { message: "The project is being reset or deleted." });
  if (row.disabled && !row.isSuspended) return false;
  await disableProjectRows(tx, [projectId]);
  await liftSuspensions(tx, projectId, null);
  await openOrCloseProjectQueues(tx, [projectId], false);
  await recordAudit(tx, [{ projectId, actor, action: "project.suspended", details: { reasons: [reason] } }]);
  await sendNotice(tx, { projectId, notice: "disabledByAdmin", actor, reason });
  return true;
}

/**
 * Enables a disabled project for the instance admin, and resumes its email. Its rates are counted from now on. Returns whether it was
 * disabled, or its email was held after someone enabled it directly in the database.
 *
 * @param ownerId the owner who uses up the right to enable it; null for an instance admin
 */
export async function enableProject(
  tx: Tx,
  { projectId, actor, reason }: { projectId: string; actor: Actor; reason: string },
  ownerId: string | null = null,
): Promise<boolean> {
  const row = await lockSuspended(tx, projectId, LIMITS.selfEnableDays.value);
  if (row === undefined) throw new AppError("PROJECT_NOT_FOUND");
  if (row.isRemoved) throw new AppError("CONFLICT", { message: "The project is being reset or deleted." });
  if (!row.disabled && !row.isClosed) return false;
  // An instance admin enabled it by SQL, so its owner has not used up the right to enable it.
  await enableProjectRow(tx, projectId, row.disabled ? ownerId : null);
  await openOrCloseProjectQueues(tx, [projectId], true);
  await recordAudit(tx, [{ projectId, actor, action: "project.enabled", details: { reason } }]);
  if (ownerId === null && row.disabled)
    await sendNotice(tx, { projectId, notice: "enabledByAdmin", actor, reason });
  return true;
}

/**
 * Enables a project for its owner, only after a suspension and once per period. The limit does not apply if the project is enabled and only
 * its email is held.
 *
 * @throws AppError CONFLICT
 */
export async function enableOwnProject(
  tx: Tx,
  enabled: { projectId: string; actor: Actor; reason: string },
): Promise<void> {
  const row = await lockSuspended(tx, enabled.projectId, LIMITS.selfEnableDays.value);
  if (row === undefined || (!row.disabled && !row.isClosed))
    throw new AppError("CONFLICT", { message: "The project is not disabled." });
  if (row.disabled && (!row.isSuspended || row.wasLifted))
    throw new AppError(
      "CONFLICT",
      asMessage(
        row.wasLifted
          ? withValues("An owner can do this once in {days} days. Ask your administrator.", {
              days: LIMITS.selfEnableDays.value,
            })
          : "The project was disabled by your administrator. Ask them to enable it.",
      ),
    );
  await enableProject(tx, enabled, enabled.actor.userId);
}

export interface Status {
  projectId: string;
  name: string;
  isDisabled: boolean;
  /** Whether a suspension because of rates disabled it, so that its owner can enable it. */
  isSuspended: boolean;
  /** Time of the last suspension. Enabling the project resets the rates. */
  suspendedAt: Date | null;
}

/** Returns whether projects are disabled, and when they were last suspended. Unknown projects are missing. */
export async function readStatuses(database: Database, projectIds: readonly string[]): Promise<Status[]> {
  const rows = await findStatuses(database, projectIds);
  return rows.map((row) => ({
    projectId: row.id,
    name: row.name,
    isDisabled: row.disabled,
    isSuspended: row.isSuspended,
    suspendedAt: row.suspendedAt,
  }));
}

const SHOWN_SUSPENSIONS = 20;

/** Returns the suspensions of a project, newest first. */
export async function listSuspensions(
  database: Database,
  projectId: string,
): Promise<Array<{ at: string; reasons: string[]; rates: BadRate[] }>> {
  const rows = await listSuspensionRows(database, projectId, SHOWN_SUSPENSIONS);
  return rows.map((row) => ({
    at: row.createdAt.toISOString(),
    reasons: row.reasons as string[],
    rates: row.rates as BadRate[],
  }));
}
