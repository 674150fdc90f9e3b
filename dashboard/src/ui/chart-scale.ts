// Computes the scale and the lines of a chart. Pure.

/** Null is a gap, such as the rate of a day without emails. */
export type Value = number | null;

/** Returns the end of the scale, which is the next of 1, 2 or 5 times a power of ten. A scale of counts ends at 1 or more. */
export function scaleEnd(most: number, isCount: boolean): number {
  const least = isCount ? 1 : 0.01;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, most)));
  const end = [1, 2, 5, 10].map((step) => step * power).find((one) => one >= most) ?? most;
  return Number(end.toPrecision(1));
}

/** Returns an SVG path through a square of 100 by 100, interrupted where a value is missing. */
export function pathOf(values: readonly Value[], end: number): string {
  const parts = values.flatMap((value, at) => {
    if (value === null) return [];
    return [`${(values[at - 1] ?? null) === null ? "M" : "L"}${placeOf(values, at, end)}`];
  });
  return parts.join("");
}

/** Returns a path of the points between two gaps, which have no line. */
export function dotsOf(values: readonly Value[], end: number): string {
  const isAlone = (at: number) => (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
  const parts = values.flatMap((value, at) => {
    const place = placeOf(values, at, end);
    return value === null || !isAlone(at) ? [] : [`M${place}L${place}`];
  });
  return parts.join("");
}

function placeOf(values: readonly Value[], at: number, end: number): string {
  const last = Math.max(1, values.length - 1);
  return `${round((at / last) * 100)} ${round(100 - ((values[at] ?? 0) / end) * 100)}`;
}

const round = (value: number) => Math.round(value * 100) / 100;

export const sumOf = (values: readonly Value[]) =>
  values.reduce<number>((total, one) => total + (one ?? 0), 0);
