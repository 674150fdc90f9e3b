// Checks of `npm run doctor` on stored counts, which must equal a recount.
import { campaignNames } from "../campaigns/usage.ts";
import { recountEmails } from "../emails/results/email-counts.ts";
import { recountSample } from "../events/recount.ts";
import { now } from "../platform/clock.ts";
import type { DoctorDependencies, Finding } from "./finding.ts";

const RECOUNTED_PROJECTS = 5;
const RECOUNTED_MS = 7 * 86_400_000;
const QUARTER_MS = 900_000;

/** Compares the counts of the last week by quarter hour with their rows, in a sample of projects. */
export async function checkCounts({ database }: DoctorDependencies): Promise<Finding | Finding[]> {
  const check = "counts";
  const to = now();
  // Begins with a whole quarter of an hour, because counts know no parts of it.
  const from = new Date(Math.floor((to.getTime() - RECOUNTED_MS) / QUARTER_MS) * QUARTER_MS);
  const span = { from, to };
  const { projects, wrong } = await recountSample(database, span, RECOUNTED_PROJECTS);
  if (wrong.length === 0)
    return { check, state: "ok", message: `The counts match their rows. Projects checked: ${projects}.` };
  return wrong.map(({ projectId, what, quarters }) => ({
    check,
    state: "problem",
    message: `The counts by ${what} of project ${projectId} differ from the rows in ${quarters} quarter hours of the last week.`,
    advice: "Rows were changed manually, or this is a bug. Please report it with these lines.",
  }));
}

/** Compares the counts of campaigns, workflow steps and templates with their emails, in a sample of projects. */
export async function checkEmailCounts({ database }: DoctorDependencies): Promise<Finding | Finding[]> {
  const check = "email counts";
  const { projects, wrong } = await recountEmails(database, RECOUNTED_PROJECTS);
  if (wrong.length === 0)
    return {
      check,
      state: "ok",
      message: `The email counts match their emails. Projects checked: ${projects}.`,
    };
  const named = await Promise.all(
    [...Map.groupBy(wrong, ({ projectId }) => projectId)].map(([projectId, own]) =>
      campaignNames(
        database,
        projectId,
        own.map(({ subjectId }) => subjectId),
      ),
    ),
  );
  const names = new Map(named.flatMap((one) => [...one]));
  return wrong.map(({ projectId, subjectId, differences }) => {
    const name = names.get(subjectId);
    const subject = name === undefined ? subjectId : `campaign "${name}" (${subjectId})`;
    return {
      check,
      state: "problem",
      message: `The counts of ${subject} in project ${projectId} differ from its emails: ${differences.join(", ")}.`,
      advice: "Rows were changed manually, or this is a bug. Please report it with these lines.",
    };
  });
}
