// Reputation guard: disables a project with a critical bounce or complaint rate and notifies its members.
import type { z } from "zod";
import type { security } from "@postloft/contract/security.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { now } from "../platform/clock.ts";
import { AppError } from "../platform/app-error.ts";
import { readSendingTotals } from "../emails/results/sending-hours.ts";
import { enqueuePlatformEmails } from "../emails/platform-email/platform-email.ts";
import { takeDue, notifyMembers } from "../projects/members/notifications.ts";
import {
  listSuspensions,
  readStatuses,
  suspendProjects,
  type Status,
  type SuspendedProject,
} from "../projects/suspend-projects.ts";
import { evaluate, ratesOf, type Evaluation } from "./reputation-rules.ts";
import { suspensionMail, warningMail } from "./suspension-mail.ts";

const WARNED_AGAIN_MS = 7 * 86_400_000;

export type Security = z.output<typeof security>;

/** Enabling a project restarts the count, so that the emails that led to a suspension don't count twice. */
function countedFrom({ isDisabled, suspendedAt }: Status): Date | null {
  return isDisabled ? null : suspendedAt;
}

function disabledBy({ isDisabled, isSuspended }: Status): Security["disabledBy"] {
  if (!isDisabled) return null;
  return isSuspended ? "RATES" : "ADMIN";
}

/**
 * Returns the reputation of a project (decisions §2).
 * @throws AppError PROJECT_NOT_FOUND
 */
export async function readSecurity(database: Database, projectId: string): Promise<Security> {
  const [statusOfEmail] = await readStatuses(database, [projectId]);
  if (statusOfEmail === undefined) throw new AppError("PROJECT_NOT_FOUND");
  const from = countedFrom(statusOfEmail);
  const [totals] = await readSendingTotals(database, [{ projectId, from }]);
  if (totals === undefined) throw new Error("Sending totals of the project are missing.");
  const { levels, badRates: _, ...evaluation } = evaluate(totals);
  return {
    status: {
      projectId,
      ...evaluation,
      countedFrom: from?.toISOString() ?? null,
      twentyFourHour: ratesOf(totals.twentyFourHour),
      sevenDay: ratesOf(totals.sevenDay),
      allTime: ratesOf(totals.allTime),
    },
    levels,
    isDisabled: statusOfEmail.isDisabled,
    disabledBy: disabledBy(statusOfEmail),
    suspensions: await listSuspensions(database, projectId),
  };
}

/** Checks projects with new bounces or complaints, in the transaction that records them. */
export type Guard = (tx: Tx, projectIds: readonly string[]) => Promise<void>;

/** Creates the guard. With `isOn: false` (REPUTATION_GUARD) it does nothing. */
export function createGuard({ isOn, baseUrl }: { isOn: boolean; baseUrl: () => string }): Guard {
  return async (tx, projectIds) => {
    if (!isOn || projectIds.length === 0) return;
    const statuses = (await readStatuses(tx, [...new Set(projectIds)])).filter(
      ({ isDisabled }) => !isDisabled,
    );
    if (statuses.length === 0) return;
    const totals = await readSendingTotals(
      tx,
      statuses.map((statusOfEmail) => ({
        projectId: statusOfEmail.projectId,
        from: countedFrom(statusOfEmail),
      })),
    );
    const evaluated = totals.map((one) => ({ projectId: one.projectId, ...evaluate(one) }));
    const critical = evaluated.flatMap(({ projectId, shouldDisable, violations, badRates }) =>
      shouldDisable
        ? [{ projectId, reasons: violations, rates: badRates.filter(({ level }) => level === "critical") }]
        : [],
    );
    const near = evaluated.filter(({ shouldDisable, isHealthy }) => !shouldDisable && !isHealthy);
    const nameOf = new Map(statuses.map(({ projectId, name }) => [projectId, name]));
    const named = near.map((one) => ({ ...one, name: nameOf.get(one.projectId) ?? "" }));
    await warn(tx, named, baseUrl());
    const suspended = await suspendProjects(tx, critical);
    await enqueuePlatformEmails(
      tx,
      suspended.flatMap((project) => mailsAbout(project, baseUrl())),
    );
  };
}

/** At most once a week because rates change slowly. */
async function warn(
  tx: Tx,
  near: ReadonlyArray<Evaluation & { projectId: string; name: string }>,
  baseUrl: string,
): Promise<void> {
  const kind = "reputation-warning";
  const since = new Date(now().getTime() - WARNED_AGAIN_MS);
  const due = await takeDue(tx, { projectIds: near.map(({ projectId }) => projectId), kind, since });
  for (const one of near)
    if (due.has(one.projectId))
      await notifyMembers(
        tx,
        { projectId: one.projectId, kind, facts: { reasons: [...one.violations, ...one.warnings] } },
        warningMail({ ...one, rates: one.badRates }, baseUrl),
      );
}

function mailsAbout(project: SuspendedProject, baseUrl: string) {
  const mail = suspensionMail(project, baseUrl);
  return project.members.map(({ email: to, language }) => ({ to, ...mail(language) }));
}
