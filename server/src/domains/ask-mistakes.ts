// Asks DNS what tells how a record came to be missing or wrong: its own name, the places where it is entered by mistake. Bounded in
// questions.
import type { DomainMistake } from "@postloft/contract/domain-mistakes.ts";
import type { Dns, DnsAnswer, RecordType } from "../platform/dns.ts";
import type { DomainView } from "./present-domain.ts";
import { mistakesOf, type RecordFacts } from "./record-mistakes.ts";

/** A provider's zone is the domain itself, or up to so many levels above it. */
const MOST_ZONES = 3;
/** Of the records of one name this much is looked at: a stranger's DNS says how much there is. */
const MOST_TEXTS = 20;
const MOST_CHARS = 2_000;
/** Beside a record: whoever answers for this name answers for all. */
const NOBODYS_LABEL = "postloft-looks-for-a-wildcard";

export interface RecordMistakes {
  purpose: RecordFacts["purpose"];
  name: string;
  mistakes: DomainMistake[];
}

/** Of each record that does not work, in its order. Never throws; what nobody answers for is taken for nothing. */
export async function askMistakes(dns: Dns, { domain, records }: DomainView): Promise<RecordMistakes[]> {
  const needsSpf = records.every(({ purpose }) => purpose !== "return-path");
  const faulty = records.flatMap(({ purpose, name, value, status }) =>
    purpose === "return-path" ||
    !["MISSING", "MISMATCH"].includes(status) ||
    // Where another domain is the return path, an SPF record of one's own is a courtesy.
    (purpose === "spf" && status === "MISSING" && !needsSpf)
      ? []
      : [{ purpose, name, value }],
  );
  if (faulty.length === 0) return [];
  const atDomain = await textsOf(dns, domain);
  return Promise.all(
    faulty.map(async (record) => ({
      purpose: record.purpose,
      name: record.name,
      mistakes: mistakesOf(await factsOf(dns, { ...record, domain, atDomain })),
    })),
  );
}

async function factsOf(
  dns: Dns,
  record: Pick<RecordFacts, "purpose" | "name" | "value" | "domain" | "atDomain">,
): Promise<RecordFacts> {
  const { name, domain, atDomain } = record;
  const zones = zonesOf(domain);
  const [texts, alias, address, ...doubled] = await Promise.all([
    name === domain ? atDomain : textsOf(dns, name),
    ownAnswer(dns, name, "CNAME"),
    ownAnswer(dns, name, "A"),
    ...zones.map((zone) => textsOf(dns, `${name}.${zone}`)),
  ]);
  return {
    ...record,
    texts,
    alias,
    address,
    doubled: Object.fromEntries(zones.map((zone, at) => [zone, doubled[at] ?? []])),
  };
}

/** The domain and what is above it, as far as a zone can be there: a name of one label is nobody's. */
function zonesOf(domain: string): string[] {
  const labels = domain.split(".");
  return labels
    .map((_, at) => labels.slice(at).join("."))
    .filter((zone) => zone.includes("."))
    .slice(0, MOST_ZONES);
}

/** Octets come as characters; what people paste, curly quotes among it, is UTF-8. */
async function textsOf(dns: Dns, name: string): Promise<string[]> {
  return recordsOf(await dns.txt(name)).map((text) => Buffer.from(text, "latin1").toString("utf8"));
}

/** The first record of a name that a name beside it does not have; null where there is none. */
async function ownAnswer(dns: Dns, name: string, type: RecordType): Promise<string | null> {
  const beside = `${NOBODYS_LABEL}.${name.split(".").slice(1).join(".")}`;
  const [own, others] = await Promise.all([dns.records(name, type), dns.records(beside, type)]);
  const [first] = recordsOf(own);
  return first === undefined || recordsOf(others).length > 0 ? null : first;
}

function recordsOf(answer: DnsAnswer): string[] {
  if (answer.kind !== "records") return [];
  return answer.records.slice(0, MOST_TEXTS).map((record) => record.slice(0, MOST_CHARS).toWellFormed());
}
