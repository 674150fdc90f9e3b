// When a workflow with the trigger SCHEDULE runs next: cron lines of five fields, by the clock of a zone. Pure.
import { Cron } from "croner";

export interface Schedule {
  /** Minute, hour, day, month, weekday. */
  cron: string;
  /** IANA; default UTC. */
  timezone?: string | undefined;
}

/**
 * The first run after an instant; null when there is none, as on 31 February. Where minutes and hours are named, a time that the
 * change to summer time leaves out runs at the end of the gap, and one that comes twice in autumn runs the first time. With a `*` or a
 * step in them it runs by what the clock shows, however often.
 * @throws Error that says what is wrong with the line.
 */
export function nextRunAfter({ cron, timezone = "UTC" }: Schedule, after: Date): Date | null {
  return new Cron(cron, { mode: "5-part", timezone, fixedTimeRule: "no-wildcard" }).nextRun(after);
}

/** Fewer hours between two runs are more often than daily; a day on which the clock changes has 23. */
const DAY_HOURS = 23;
/** From this day on, because the answer must not depend on when it is asked. */
const SOME_DAY = new Date("2026-01-01T00:00:00Z");
/** A line that runs twice within a day does so among its next runs. */
const RUNS_COMPARED = 60;

/** Returns whether some two of the next runs are less than a day apart. */
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

/** What is wrong with a schedule, as a sentence; null when it runs. */
export function faultOfSchedule(schedule: Schedule, now: Date): string | null {
  if (schedule.cron.trim().startsWith("@"))
    return "Names such as `@daily` are not taken: write five fields, `0 9 * * *` is each day at nine.";
  // The library would take a date as well, and run once.
  if (!FIVE_FIELDS.test(schedule.cron.trim()))
    return "Write five fields with blanks between them, such as `0 9 * * *`.";
  // To the library it means the moment at which it reads the line.
  if (schedule.cron.includes("?")) return "`?` is not taken: write `*`.";
  try {
    return nextRunAfter(schedule, now) === null ? "It would never run: there is no such date." : null;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return `No cron line of five fields: ${reason}`;
  }
}
