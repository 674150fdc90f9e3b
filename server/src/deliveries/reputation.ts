// Reputation guard: disables a project with a critical bounce or complaint rate and notifies its members.
import type { z } from "zod";
import type { security } from "@postloft/contract/security.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { now } from "../platform/clock.ts";
import { Refusal } from "../platform/refusal.ts";
import { readSendingTotals } from "../emails/booking/sending-hours.ts";
import { enqueueSystemMails } from "../emails/system-mail/system-mail.ts";
import { takeDue, tellMembers } from "../projects/members/notifications.ts";
import {
  listSuspensions,
  readStandings,
  suspendProjects,
  type Standing,
  type SuspendedProject,
} from "../projects/suspend-projects.ts";
import { judge, ratesOf, type Judgement } from "./reputation-rules.ts";
import { suspensionMail, warningMail } from "./suspension-mail.ts";

const WARNED_AGAIN_MS = 7 * 86_400_000;

export type Security = z.output<typeof security>;

/** Enabling a project restarts the count, so that the emails that led to a suspension don't count twice. */
function countedFrom({ isDisabled, suspendedAt }: Standing): Date | null {
  return isDisabled ? null : suspendedAt;
}

/**
 * Returns the reputation of a project (decisions §2).
 * @throws AppError PROJECT_NOT_FOUND
 */
export async function readSecurity(database: Database, projectId: string): Promise<Security> {
  const [standing] = await readStandings(database, [projectId]);
  if (standing === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  const from = countedFrom(standing);
  const [totals] = await readSendingTotals(database, [{ projectId, from }]);
  if (totals === undefined) throw new Error("Sending totals of the project are missing.");
  const { levels, badRates: _, ...judgement } = judge(totals);
  return {
    status: {
      projectId,
      ...judgement,
      countedFrom: from?.toISOString() ?? null,
      twentyFourHour: ratesOf(totals.twentyFourHour),
      sevenDay: ratesOf(totals.sevenDay),
      allTime: ratesOf(totals.allTime),
    },
    levels,
    isDisabled: standing.isDisabled,
    suspensions: await listSuspensions(database, projectId),
  };
}

/** Checks projects with new bounces or complaints, in the transaction that records them. */
export type Guard = (tx: Tx, projectIds: readonly string[]) => Promise<void>;

/** Creates the guard. With `isOn: false` (REPUTATION_GUARD) it does nothing. */
export function createGuard({ isOn, baseUrl }: { isOn: boolean; baseUrl: () => string }): Guard {
  return async (tx, projectIds) => {
    if (!isOn || projectIds.length === 0) return;
    const standings = (await readStandings(tx, [...new Set(projectIds)])).filter(
      ({ isDisabled }) => !isDisabled,
    );
    if (standings.length === 0) return;
    const totals = await readSendingTotals(
      tx,
      standings.map((standing) => ({ projectId: standing.projectId, from: countedFrom(standing) })),
    );
    const judged = totals.map((one) => ({ projectId: one.projectId, ...judge(one) }));
    const critical = judged.flatMap(({ projectId, shouldDisable, violations, badRates }) =>
      shouldDisable
        ? [{ projectId, reasons: violations, rates: badRates.filter(({ level }) => level === "critical") }]
        : [],
    );
    const near = judged.filter(({ shouldDisable, isHealthy }) => !shouldDisable && !isHealthy);
    const nameOf = new Map(standings.map(({ projectId, name }) => [projectId, name]));
    const named = near.map((one) => ({ ...one, name: nameOf.get(one.projectId) ?? "" }));
    await warn(tx, named, baseUrl());
    const suspended = await suspendProjects(tx, critical);
    await enqueueSystemMails(
      tx,
      suspended.flatMap((project) => mailsAbout(project, baseUrl())),
    );
  };
}

/** At most once a week because rates change slowly. */
async function warn(
  tx: Tx,
  near: ReadonlyArray<Judgement & { projectId: string; name: string }>,
  baseUrl: string,
): Promise<void> {
  const kind = "reputation-warning";
  const since = new Date(now().getTime() - WARNED_AGAIN_MS);
  const due = await takeDue(tx, { projectIds: near.map(({ projectId }) => projectId), kind, since });
  for (const one of near)
    if (due.has(one.projectId))
      await tellMembers(
        tx,
        { projectId: one.projectId, kind, facts: { reasons: [...one.violations, ...one.warnings] } },
        warningMail({ ...one, rates: one.badRates }, baseUrl),
      );
}

function mailsAbout(project: SuspendedProject, baseUrl: string) {
  const mail = suspensionMail(project, baseUrl);
  return project.members.map(({ email: to, language }) => ({ to, ...mail(language) }));
}
