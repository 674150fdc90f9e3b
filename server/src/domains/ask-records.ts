// Asks DNS for all records a domain check needs, following SPF includes step by step. Limits questions and time.
import type { Dns, DnsAnswer } from "../platform/dns.ts";
import { dkimName } from "./dkim-record.ts";
import type { DomainRow, FoundRecords } from "./queries.ts";
import { mxKey, namesToAsk, secondKeyOf, signingKeyOf } from "./rules.ts";
import { spfRecordsOf, walkSpf, type SpfQuestion } from "./spf-walk.ts";

/**
 * Limits for the stored records of one name, because a stranger's DNS decides how many there are. One more than the hosts an `mx` may have.
 */
const MAX_KEPT_RECORDS = 11;
const MAX_KEPT_CHARS = 2_000;
/** Each step goes one include deeper. Receivers reject deeper chains much earlier. */
const MAX_STEPS = 11;
/** No step begins after this time; a step takes up to 7 s. */
const STEPS_MS = 5_000;

export interface Asked {
  found: FoundRecords;
  /** Why DNS gave no answer for one of our keys; null if it answered. */
  trouble: string | null;
}

/** Asks for everything the check of this domain needs except the SPF of the return path. Never throws. */
export async function askRecords(dns: Dns, row: DomainRow): Promise<Asked> {
  const spf = askSpf(dns, row.domain);
  const mx = askMx(dns, row);
  const answers = await Promise.all(
    namesToAsk(row).map(async (name) => ({ name, answer: await dns.txt(name) })),
  );
  const second = secondKeyOf(row);
  const ours = [signingKeyOf(row), ...(second?.role === "next" ? [second] : [])].map(dkimName);
  const found = answers.flatMap(({ name, answer }) => {
    const records = recordsOf(answer);
    return records === null ? [] : [[name, kept(records)] as const];
  });
  const reasons = answers.flatMap(({ name, answer }) =>
    answer.kind === "unanswered" && ours.includes(name) ? [answer.reason] : [],
  );
  const all = { ...(await spf), ...(await mx), ...Object.fromEntries(found) };
  return { found: all, trouble: reasons[0] ?? null };
}

/** Asks for the MX records of a domain that receives email. Never throws. */
async function askMx(dns: Dns, { domain, receives }: DomainRow): Promise<FoundRecords> {
  const records = receives ? recordsOf(await dns.records(domain, "MX")) : null;
  return records === null ? {} : { [mxKey(domain)]: kept(records) };
}

/** Asks for the SPF record of a domain and everything it includes. Never throws. */
export async function askSpf(dns: Dns, domain: string): Promise<FoundRecords> {
  const found: Record<string, readonly string[]> = {};
  const asked = new Set<string>();
  const startedAt = performance.now();
  for (let step = 0; step < MAX_STEPS && performance.now() - startedAt < STEPS_MS; step++) {
    const questions = walkSpf(domain, found).questions.filter(({ key }) => !asked.has(key));
    if (questions.length === 0) break;
    await Promise.all(
      questions.map(async (question) => {
        asked.add(question.key);
        const records = recordsOf(await answerTo(dns, question));
        if (records === null) return;
        found[question.key] = kept(question.type === "TXT" ? spfRecordsOf(records) : records);
      }),
    );
  }
  return found;
}

async function answerTo(dns: Dns, { type, name }: SpfQuestion): Promise<DnsAnswer> {
  if (type === "TXT") return dns.txt(name);
  const answer = await dns.records(name, type);
  return type === "A" && answer.kind === "none" ? dns.records(name, "AAAA") : answer;
}

function recordsOf(answer: DnsAnswer): string[] | null {
  if (answer.kind === "unanswered") return null;
  return answer.kind === "none" ? [] : answer.records;
}

/** Limits what is stored of a name's records. Replaces zero characters, which jsonb cannot store. */
function kept(records: readonly string[]): string[] {
  return records
    .slice(0, MAX_KEPT_RECORDS)
    .map((record) => record.slice(0, MAX_KEPT_CHARS).replaceAll("\0", "\u{FFFD}").toWellFormed());
}
