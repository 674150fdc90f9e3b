// Asks DNS for the names that show why a record is missing or wrong, such as common places for misplaced records. Limits the number of
// questions.
import type { DomainMistake } from "@postloft/contract/domain-mistakes.ts";
import type { Dns, DnsAnswer, RecordType } from "../platform/dns.ts";
import type { RecordsView } from "./present-domain.ts";
import { mistakesOf, type RecordFacts } from "./record-mistakes.ts";

/** A provider's zone is the domain itself or one of its parents, up to this many zones. */
const MOST_ZONES = 3;
/** Limits for the records of one name, because a stranger's DNS decides how many there are. */
const MOST_TEXTS = 20;
const MOST_CHARS = 2_000;
/** A sibling of the record's name. If it exists too, a wildcard answers for every name. */
const WILDCARD_LABEL = "postloft-looks-for-a-wildcard";

export interface RecordMistakes {
  purpose: RecordFacts["purpose"];
  name: string;
  mistakes: DomainMistake[];
}

/** Returns the mistakes of each record that does not work, in order. Never throws; a DNS failure counts as no records. */
export async function askMistakes(dns: Dns, { domain, records }: RecordsView): Promise<RecordMistakes[]> {
  const needsSpf = records.every(({ purpose }) => purpose !== "return-path");
  const faulty = records.flatMap(({ purpose, name, value, status }) =>
    purpose === "return-path" ||
    !["MISSING", "MISMATCH"].includes(status) ||
    // A separate SPF record is optional when another domain is the return path.
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

/** Returns the domain and its parent zones, without the top-level domain. */
function zonesOf(domain: string): string[] {
  const labels = domain.split(".");
  return labels
    .map((_, at) => labels.slice(at).join("."))
    .filter((zone) => zone.includes("."))
    .slice(0, MOST_ZONES);
}

/** Decodes UTF-8, such as pasted curly quotes, because DNS returns octets as characters. */
async function textsOf(dns: Dns, name: string): Promise<string[]> {
  return recordsOf(await dns.txt(name)).map((text) => Buffer.from(text, "latin1").toString("utf8"));
}

/** Returns the first record of a name, or null if there is none or a wildcard answers. */
async function ownAnswer(dns: Dns, name: string, type: RecordType): Promise<string | null> {
  const beside = `${WILDCARD_LABEL}.${name.split(".").slice(1).join(".")}`;
  const [own, others] = await Promise.all([dns.records(name, type), dns.records(beside, type)]);
  const [first] = recordsOf(own);
  return first === undefined || recordsOf(others).length > 0 ? null : first;
}

function recordsOf(answer: DnsAnswer): string[] {
  if (answer.kind !== "records") return [];
  return answer.records.slice(0, MOST_TEXTS).map((record) => record.slice(0, MOST_CHARS).toWellFormed());
}
