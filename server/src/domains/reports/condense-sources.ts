// Bounds the list of sources of a DMARC report without losing a message. Pure.
import { OTHER_SOURCES, type DmarcSource } from "./report.ts";

/** Sources that are listed one by one. */
const MAX_LISTED = 1_000;
/** Groups that all others are counted in: at most this many domains and results. No honest report comes close. */
const MAX_GROUPS = 1_000;

/**
 * Counts every source: up to 1,000 of them one by one, those with the most unaligned messages first, and all others together by domain and
 * result. Returns null for a report with more domains than that, because a part of it would read like all of it.
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

/** Adds up the messages of sources that are equal after `as`. */
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
