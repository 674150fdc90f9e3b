// Names of weekdays and times of day for triggers and delays.
import { locale } from "../../text/t.ts";

const WEEKDAY = new Intl.DateTimeFormat(locale(), { weekday: "long", timeZone: "UTC" });
const TIME = new Intl.DateTimeFormat(locale(), { timeStyle: "short", timeZone: "UTC" });
/** January 1, 2024 was a Monday. */
const MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

/** The days as in the API, 1 for Monday, with their names. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7].map((day) => ({
  day,
  name: WEEKDAY.format(MONDAY_MS + (day - 1) * DAY_MS),
}));

/** Returns `HH:mm` as the user writes it. */
export function timeOfDay(time: string): string {
  return TIME.format(new Date(`2024-01-01T${time}:00Z`));
}
