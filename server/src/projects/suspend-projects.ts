// Disabling projects for what came back about their mail, and what is known of it afterwards.
import type { BadRate } from "@postloft/contract/security.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { mailLanguageOf, type MailLanguage } from "../emails/system-mail/mail-language.ts";
import { openOrCloseProjectQueues } from "../emails/outbox/queues.ts";
import { recordAudit, SERVICE, type Actor } from "../audit/audit-log.ts";
import {
  disableProjectRows,
  enableProjectRow,
  findStandings,
  insertSuspensions,
  listMemberAddresses,
  listSuspensionRows,
  lockSuspended,
} from "./suspension-queries.ts";

export interface Suspension {
  projectId: string;
  /** Sentences in English. */
  reasons: readonly string[];
  /** What they say, in numbers. */
  rates: readonly BadRate[];
}

export interface SuspendedProject extends Suspension {
  name: string;
  /** All members, and in which language they are told. */
  members: Array<{ email: string; language: MailLanguage }>;
}

/** Disables those of the projects that are not disabled yet, and returns them: of two calls at once one gets each. */
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
 * Enables a project that is disabled, for whoever runs the installation; returns whether it was disabled, or its mail was held after it had
 * been enabled by a statement of theirs. Its mail that waits goes on, and its rates are counted from now on.
 */
export async function enableProject(
  tx: Tx,
  { projectId, actor, reason }: { projectId: string; actor: Actor; reason: string },
): Promise<boolean> {
  const row = await lockSuspended(tx, projectId, LIMITS.selfEnableDays.value);
  if (row === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  if (row.isRemoved) throw new Refusal("CONFLICT", { message: "The project is being reset or deleted." });
  if (!row.disabled && !row.isClosed) return false;
  // Who was enabled by a statement was so by whoever runs the installation: their owner may do it once all the same.
  await enableProjectRow(tx, projectId, row.disabled ? actor.userId : null);
  await openOrCloseProjectQueues(tx, [projectId], true);
  await recordAudit(tx, [{ projectId, actor, action: "project.enabled", details: { reason } }]);
  return true;
}

/**
 * The same for its owner: only after a suspension, and only once in a while, unless it is enabled and only its mail is held.
 *
 * @throws Refusal CONFLICT
 */
export async function enableOwnProject(
  tx: Tx,
  enabled: { projectId: string; actor: Actor; reason: string },
): Promise<void> {
  const row = await lockSuspended(tx, enabled.projectId, LIMITS.selfEnableDays.value);
  if (row === undefined || (!row.disabled && !row.isClosed))
    throw new Refusal("CONFLICT", { message: "The project is not disabled." });
  if (row.disabled && (!row.isSuspended || row.wasLifted))
    throw new Refusal("CONFLICT", {
      message: row.wasLifted
        ? `An owner may do this once in ${LIMITS.selfEnableDays.value} days. Ask whoever runs this installation.`
        : "The project was disabled by whoever runs this installation: ask there.",
    });
  await enableProject(tx, enabled);
}

export interface Standing {
  projectId: string;
  name: string;
  isDisabled: boolean;
  /** When it was suspended last; whoever enabled it again wipes the slate. */
  suspendedAt: Date | null;
}

/** Whether projects are disabled, and when they were suspended last. Projects that do not exist are missing. */
export async function readStandings(database: Database, projectIds: readonly string[]): Promise<Standing[]> {
  const rows = await findStandings(database, projectIds);
  return rows.map((row) => ({
    projectId: row.id,
    name: row.name,
    isDisabled: row.disabled,
    suspendedAt: row.suspendedAt,
  }));
}

const SHOWN_SUSPENSIONS = 20;

/** The suspensions of a project, newest first. */
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
