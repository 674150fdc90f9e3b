// Pairs inputs with their results. Pure.

/**
 * Returns each entry with its result, in order.
 * @throws Error if the lists differ in length, so that an entry never gets the result of another
 */
export function pairUp<A, B>(asked: readonly A[], results: readonly B[]): Array<[A, B]> {
  if (asked.length !== results.length)
    throw new Error(`${asked.length} entries cannot be paired with ${results.length} results.`);
  return asked.map((one, at) => [one, results[at] as B]);
}
