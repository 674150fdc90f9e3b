// Pairs two lists whose entries belong together: what was asked, and what came back for it. Pure.

/**
 * What came back for each entry, in order.
 *
 * @throws Error when the lists differ in length: one entry's result must never become another's, or an empty id
 */
export function pairUp<A, B>(asked: readonly A[], results: readonly B[]): Array<[A, B]> {
  if (asked.length !== results.length)
    throw new Error(`${asked.length} entries cannot be paired with ${results.length} results.`);
  return asked.map((one, at) => [one, results[at] as B]);
}
