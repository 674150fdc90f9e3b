// Numbers and instants as the viewer writes them, in the viewer's zone.
const NUMBER = new Intl.NumberFormat();
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const INSTANT = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

export function formatDay(instant: string): string {
  return DAY.format(new Date(instant));
}

export function formatInstant(instant: string): string {
  return INSTANT.format(new Date(instant));
}
