// Reads the numbers after a benchmark's name, such as the number of emails or recipients.

/** @throws Error unless all are positive integers */
export function readNumbers(
  fallback: readonly number[],
  texts: readonly string[] = process.argv.slice(3),
): readonly number[] {
  const input = texts.map(Number);
  if (!input.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new Error(`not positive integers: ${texts.join(" ")}`);
  return input.length === 0 ? fallback : input;
}
