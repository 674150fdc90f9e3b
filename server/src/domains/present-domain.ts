// Builds the API view of a sender domain: for each record the expected value, the found one and advice. Pure.
import type * as contract from "@postloft/contract/domains.ts";
import { inWords, dnsMessage, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import type { z } from "zod";
import { contentId } from "../platform/ids.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { dkimName, dkimValue, classifyDkim, type PublicDkimKey } from "./dkim-record.ts";
import { classifyDmarc } from "./dmarc-record.ts";
import type { DomainRow, FoundRecords } from "./queries.ts";
import { ed25519KeyOf, secondKeyOf, signingKeyOf, problemsOf, type SecondKey } from "./rules.ts";
import { classifySpf } from "./spf-record.ts";
import { spfRecordsOf } from "./spf-walk.ts";

export type DomainView = z.output<typeof contract.domain>;

export type RecordView = z.output<typeof contract.record>;

/** A record with the result of its check. */
type EvaluatedRecord = Omit<RecordView, "lookedUpAt" | "servers">;

export interface AdvisoryRecord extends Pick<RecordView, "name" | "status" | "adviceParts"> {
  purpose: "spf" | "dmarc";
}

/** A correct record is shorter, and of a wrong one this much identifies it. */
const SHOWN_CHARS = 500;

/** Returns whether emails may be sent from a domain. While email stays on this machine, any check is enough. */
export function isVerified(row: Pick<DomainRow, "status" | "lastCheckedAt">, staysHere: boolean): boolean {
  return staysHere ? row.lastCheckedAt !== null : row.status === "VERIFIED";
}

export type RecordsView = Omit<DomainView, "receiving">;

/** `returnPath`: the domain of every envelope sender; null if each sender domain is its own return path. */
export function presentDomain(row: DomainRow, staysHere: boolean, returnPath: string | null): RecordsView {
  const signing = signingKeyOf(row);
  const second = secondKeyOf(row);
  const beside = ed25519KeyOf(row);
  const keys = [signing, second, beside].filter((key) => key !== null);
  const verified = isVerified(row, staysHere);
  const troubles = staysHere ? [] : problemsOf(row);
  const lookups = staysHere ? {} : row.dnsLookups;
  const found = staysHere ? (verified ? asIfPublished(keys) : {}) : row.dnsFound;
  return {
    id: row.id,
    domain: row.domain,
    verified,
    status: verified ? "VERIFIED" : "PENDING",
    records: [
      dkimView(signing, found),
      ...(second === null ? [] : [secondKeyView(second, found)]),
      ...(beside === null ? [] : [ed25519View(beside, found)]),
      ...spfViews(row.domain, found, returnPath),
      dmarcView(row.domain, found),
    ].map((record) => ({
      ...record,
      lookedUpAt: lookups[record.name]?.at ?? null,
      servers: [...(lookups[record.name]?.servers ?? [])],
    })),
    dkimTokens: keys.map(({ selector }) => selector),
    ed25519: beside !== null,
    lastError: inWords(troubles),
    lastErrorParts: troubles,
    lastCheckedAt: row.lastCheckedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns the SPF record that receivers check, which may belong to the return path, and the DMARC record. */
export function advisoryRecords({ records }: RecordsView): AdvisoryRecord[] {
  const of = (...purposes: ReadonlyArray<RecordView["purpose"]>) =>
    purposes.flatMap((purpose) => records.filter((record) => record.purpose === purpose)).slice(0, 1);
  return [
    ...of("return-path", "spf").map((record) => ({ ...record, purpose: "spf" as const })),
    ...of("dmarc").map((record) => ({ ...record, purpose: "dmarc" as const })),
  ];
}

/** Returns the domain that every project may use while email stays in the local mailbox. It has no row. */
export function sandbox(projectId: string): DomainView {
  const madeAt = new Date(0).toISOString();
  return {
    id: contentId(projectId, SANDBOX_DOMAIN),
    domain: SANDBOX_DOMAIN,
    verified: true,
    status: "VERIFIED",
    records: [],
    dkimTokens: [],
    ed25519: false,
    receiving: null,
    lastError: null,
    lastErrorParts: [],
    lastCheckedAt: null,
    createdAt: madeAt,
    updatedAt: madeAt,
  };
}

function said(advice: readonly DnsAdvice[]): Pick<EvaluatedRecord, "advice" | "adviceParts"> {
  return { advice: inWords(advice), adviceParts: [...advice] };
}

/** Returns the DNS records as if the keys were published. */
function asIfPublished(keys: readonly PublicDkimKey[]): FoundRecords {
  return Object.fromEntries(keys.map((key) => [dkimName(key), [dkimValue(key)]]));
}

function dkimView(key: PublicDkimKey, found: FoundRecords): EvaluatedRecord {
  const records = found[dkimName(key)];
  const { status, advice } = classifyDkim(records, key);
  return {
    type: "TXT",
    name: dkimName(key),
    value: dkimValue(key),
    purpose: "dkim",
    required: true,
    found: shown(records),
    status,
    ...said(advice),
  };
}

function secondKeyView(key: SecondKey, found: FoundRecords): EvaluatedRecord {
  const view = dkimView(key, found);
  if (key.role === "next")
    return view.advice === null ? { ...view, ...said([dnsMessage("dkim.nextKey")]) } : view;
  const former = dnsMessage("dkim.formerKey", { until: key.until.toISOString() });
  return { ...view, required: false, ...said([former]) };
}

function ed25519View(key: PublicDkimKey, found: FoundRecords): EvaluatedRecord {
  const view = dkimView(key, found);
  const isSaid = view.advice !== null || view.status === "FOUND";
  return { ...view, required: false, ...(isSaid ? {} : said([dnsMessage("dkim.ed25519Waits")])) };
}

/** Receivers check SPF at the return path. If that is the installation's domain, the sender's own record is optional. */
function spfViews(domain: string, found: FoundRecords, returnPath: string | null): EvaluatedRecord[] {
  const own = spfView("spf", domain, found);
  if (returnPath === null || returnPath === domain) return [own];
  const ofReturnPath = spfView("return-path", returnPath, found);
  const { adviceParts } = ofReturnPath;
  const owner = adviceParts.length === 0 ? [] : [dnsMessage("spf.ofInstallation")];
  return [
    { ...ofReturnPath, ...said([...adviceParts, ...owner]) },
    own.status === "MISSING" ? { ...own, ...said([courtesy(domain, returnPath)]) } : own,
  ];
}

function courtesy(domain: string, returnPath: string): DnsAdvice {
  const code = isBelow(returnPath, domain) ? "spf.notNeeded" : "spf.notNeededElsewhere";
  return dnsMessage(code, { returnPath });
}

function isBelow(name: string, domain: string): boolean {
  return name.endsWith(`.${domain}`) || domain.endsWith(`.${name}`);
}

function spfView(purpose: "spf" | "return-path", domain: string, found: FoundRecords): EvaluatedRecord {
  const records = found[domain];
  const { advice, ...evaluated } = classifySpf(domain, found);
  return {
    type: "TXT",
    name: domain,
    purpose,
    required: false,
    found: shown(records && spfRecordsOf(records)),
    ...evaluated,
    ...said(advice),
  };
}

function dmarcView(domain: string, found: FoundRecords): EvaluatedRecord {
  const { advice, ...evaluated } = classifyDmarc(domain, found);
  return {
    type: "TXT",
    purpose: "dmarc",
    required: false,
    ...evaluated,
    ...said(advice),
    found: shown(evaluated.found ?? undefined),
  };
}

/** Returns the records one per line, shortened for people; null if there are none. */
function shown(records: readonly string[] | undefined): string | null {
  if (records === undefined || records.length === 0) return null;
  return records
    .map((record) => (record.length > SHOWN_CHARS ? `${record.slice(0, SHOWN_CHARS)}…` : record))
    .join("\n");
}
