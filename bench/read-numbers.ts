// The numbers behind the name of a benchmark: how many mails or recipients it is to try.

/** @throws Error when one is not a whole number above 0. */
export function readNumbers(
  fallback: readonly number[],
  texts: readonly string[] = process.argv.slice(3),
): readonly number[] {
  const given = texts.map(Number);
  if (!given.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new Error(`not whole numbers above 0: ${texts.join(" ")}`);
  return given.length === 0 ? fallback : given;
}
