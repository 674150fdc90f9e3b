// Limits the list of sources of a DMARC report without losing a message. Pure.
import { OTHER_SOURCES, type DmarcSource } from "./report.ts";

/** Sources listed individually. */
const MAX_LISTED = 1_000;
/** Groups for all other sources, by domain and result. Real reports never reach this limit. */
const MAX_GROUPS = 1_000;

/**
 * Counts every source: up to 1,000 individually, those with the most unaligned messages first, and the others by domain and result. Returns
 * null for a report with too many domains, because a partial one would look complete.
 */
export function condenseSources(sources: readonly DmarcSource[]): DmarcSource[] | null {
  const distinct = summed(sources, (source) => source);
  if (distinct.length <= MAX_LISTED) return distinct;
  const ranked = distinct.toSorted(
    (one, other) => unaligned(other) - unaligned(one) || other.messages - one.messages,
  );
  const others = summed(ranked.slice(MAX_LISTED), (source) => ({
    ...source,
    ip: OTHER_SOURCES,
    signers: [],
  }));
  return others.length > MAX_GROUPS ? null : [...ranked.slice(0, MAX_LISTED), ...others];
}

const unaligned = ({ dkim, spf, messages }: DmarcSource) => (dkim || spf ? 0 : messages);

/** Adds up the messages of sources that `as` maps to the same group. */
function summed(sources: readonly DmarcSource[], as: (source: DmarcSource) => DmarcSource): DmarcSource[] {
  const sums = new Map<string, DmarcSource>();
  for (const source of sources) {
    const { messages, ...group } = as(source);
    const key = JSON.stringify(Object.values(group));
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...group, messages });
    else sum.messages += messages;
  }
  return [...sums.values()];
}
