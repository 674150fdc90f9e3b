// Two ways in turn, so that a machine that is faster at one time than at another is so for both.
import { progress, whole } from "./table.ts";

/** Both so many times in turn, the other one first each time; the middle of each, a second, and what the first is of the second in percent. */
export async function inTurn(
  name: string,
  rounds: number,
  [first, second]: ReadonlyArray<() => Promise<number>>,
): Promise<string[]> {
  if (first === undefined || second === undefined) throw new Error("There are not two to compare.");
  progress(name);
  const seen = { first: [] as number[], second: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) seen.first.push(await first());
    seen.second.push(await second());
    if (round % 2 === 1) seen.first.push(await first());
  }
  const [ofFirst, ofSecond] = [middle(seen.first), middle(seen.second)];
  return [name, whole(ofFirst), whole(ofSecond), whole((100 * ofFirst) / ofSecond)];
}

function middle(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}
