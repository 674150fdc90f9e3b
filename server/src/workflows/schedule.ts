// Computes the next run of a workflow with the trigger SCHEDULE from a cron line of five fields and a time zone. Pure.
import { Cron } from "croner";
import { withValues, type Wording } from "@postloft/contract/translation.ts";

export interface Schedule {
  /** Minute, hour, day, month, weekday. */
  cron: string;
  /** IANA name, UTC by default. */
  timezone?: string | undefined;
}

/**
 * Returns the first run after a date, or null if there is none, as on 31 February.
 * With fixed minutes and hours, a time skipped by the change to summer time runs at the end of the gap, and a repeated time runs only the
 * first time. With a `*` or a step the schedule follows the clock, however often it shows a time.
 * @throws Error that says what is wrong with the line
 */
export function nextRunAfter({ cron, timezone = "UTC" }: Schedule, after: Date): Date | null {
  return new Cron(cron, { mode: "5-part", timezone, fixedTimeRule: "no-wildcard" }).nextRun(after);
}

/** Two runs fewer hours apart count as more often than daily. A day on which the clock changes can have 23 hours. */
const DAY_HOURS = 23;
/** A fixed date, so that the result does not depend on the current time. */
const SOME_DAY = new Date("2026-01-01T00:00:00Z");
/** Enough runs to find two within a day in any line that has them. */
const RUNS_COMPARED = 60;

/** Returns whether any two of the next runs are less than a day apart. */
export function runsMoreThanDaily({ cron, timezone = "UTC" }: Schedule): boolean {
  const runs = new Cron(cron, { mode: "5-part", timezone, fixedTimeRule: "no-wildcard" }).nextRuns(
    RUNS_COMPARED,
    SOME_DAY,
  );
  return runs.some((run, at) => {
    const before = runs[at - 1];
    return before !== undefined && run.getTime() - before.getTime() < DAY_HOURS * 3_600_000;
  });
}

const FIVE_FIELDS = /^\S+(?:\s+\S+){4}$/;

/** Returns what is wrong with a schedule, as a sentence, or null if it is valid. */
export function faultOfSchedule(schedule: Schedule, now: Date): Wording | null {
  if (schedule.cron.trim().startsWith("@"))
    return "Names such as `@daily` are not supported. Use five fields, such as `0 9 * * *` for every day at nine.";
  // The library would also accept a date, which runs once.
  if (!FIVE_FIELDS.test(schedule.cron.trim()))
    return "Use five fields separated by spaces, such as `0 9 * * *`.";
  // The library would replace it by the time at which it reads the line.
  if (schedule.cron.includes("?")) return "`?` is not supported. Use `*`.";
  try {
    return nextRunAfter(schedule, now) === null ? "It would never run because there is no such date." : null;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return withValues("Not a cron line of five fields: {reason}", { reason });
  }
}
