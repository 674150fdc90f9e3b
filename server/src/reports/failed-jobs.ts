// Notifies members of failed jobs of their project, once an hour per kind because a program may start many.
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import type { FailedJob } from "../platform/background/jobs.ts";
import { NOTIFIED_JOBS } from "../projects/members/notification-facts.ts";
import { notificationMail, type MailInLanguage } from "../projects/members/notification-mails.ts";
import { CALL_MEMBERS_JOB, takeDue, notifyMembers } from "../projects/members/notifications.ts";

const NOTIFY_AGAIN_MS = 3_600_000;
const KIND = "job-failed";

/** Returns the notification email. Pure. */
export function failedJobMail(
  { projectId, id, kind, reason }: Omit<FailedJob, "input">,
  baseUrl: string,
): MailInLanguage {
  const job = NOTIFIED_JOBS.find((one) => one === kind) ?? "other";
  return notificationMail((texts) => texts.failedJob({ job, id, reason }), `${baseUrl}/app/${projectId}`);
}

/** Returns the subscriber to failed jobs, called in the transaction in which they end. */
export function createFailureNotifier({ baseUrl }: { baseUrl: () => string }) {
  return async (tx: Tx, job: FailedJob): Promise<void> => {
    const { projectId, id: jobId, kind: sort, reason } = job;
    // A failed notification call causes no further notification.
    if (sort === CALL_MEMBERS_JOB) return;
    const since = new Date(now().getTime() - NOTIFY_AGAIN_MS);
    const due = await takeDue(tx, { projectIds: [projectId], kind: KIND, of: sort, since });
    if (!due.has(projectId)) return;
    const facts = { jobId, sort, reason };
    await notifyMembers(tx, { projectId, kind: KIND, facts }, failedJobMail(job, baseUrl()));
  };
}
