// When a workflow that goes by the clock runs next.
// Before it: a cron line of a SCHEDULE trigger. After it: executions/schedule-runs.ts lets its audience enter then.
import { Cron } from "croner";

/** The first run after an instant; null when there is none. @throws Error with the reason when the line is none. */
export function nextRunAfter(
  { cron, timezone }: { cron: string; timezone?: string },
  after: Date,
): Date | null {
  return new Cron(cron, { mode: "5-part", timezone: timezone ?? "UTC" }).nextRun(after);
}
