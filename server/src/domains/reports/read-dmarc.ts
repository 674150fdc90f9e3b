// Reads DMARC aggregate reports in XML: RFC 9990, RFC 7489 appendix C, and deviations of real reporters. Pure.
import { isIP } from "node:net";
import { Parser } from "htmlparser2";
import { condenseSources } from "./condense-sources.ts";
import {
  plainCount,
  plainDomain,
  plainInstant,
  plainText,
  type DmarcReport,
  type DmarcSource,
} from "./report.ts";

const MAX_SIGNERS = 5;
const MAX_TEXT_LENGTH = 200;
/** No real report is nested this deeply. */
const MAX_DEPTH = 12;

class TooDeep extends Error {}

/** A record being read: the text of its elements by path. */
interface OpenRecord {
  texts: Map<string, string>;
  signers: Array<{ domain: string; result: string }>;
}

/**
 * Returns the report with every record counted, using memory bounded by the length of `xml`. Returns null if it is truncated, is not a
 * report, or lacks the domain, time or id.
 */
export function readDmarc(xml: string): DmarcReport | null {
  const head = new Map<string, string>();
  const sources: DmarcSource[] = [];
  const path: string[] = [];
  let record: OpenRecord | null = null;
  let text = "";
  let isWhole = false;
  const parser = new Parser(
    {
      onopentag(tag) {
        path.push(localName(tag));
        text = "";
        // Throws because the parser's own time grows with the depth.
        if (path.length > MAX_DEPTH) throw new TooDeep();
        if (at(path) === "record") record = { texts: new Map(), signers: [] };
        if (record !== null && at(path) === "record/auth_results/dkim")
          record.signers.push({ domain: "", result: "" });
      },
      ontext(part) {
        if (text.length < MAX_TEXT_LENGTH) text += part;
      },
      onclosetag(_tag, isImplied) {
        // The parser closes elements that truncated text leaves open.
        if (path.length === 1) isWhole = !isImplied;
        const place = at(path);
        if (record === null) head.set(place, text);
        else note(record, place, text);
        if (record !== null && place === "record") {
          sources.push(...sourceOf(record));
          record = null;
        }
        path.pop();
        text = "";
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  try {
    parser.write(xml);
    parser.end();
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
  return isWhole ? reportOf(head, sources) : null;
}

/** Removes the namespace prefix that some reporters add to every element. */
const localName = (tag: string) => tag.slice(tag.indexOf(":") + 1).toLowerCase();

/** Returns the path below the root element, which may have any name. */
const at = (path: readonly string[]) => path.slice(1).join("/");

function note(record: OpenRecord, place: string, text: string): void {
  const [, name] = /^record\/auth_results\/dkim\/(domain|result)$/.exec(place) ?? [];
  const signer = record.signers.at(-1);
  if (name !== undefined && signer !== undefined) signer[name as "domain" | "result"] = text;
  else record.texts.set(place.slice("record/".length), text);
}

function sourceOf({ texts, signers }: OpenRecord): DmarcSource[] {
  const word = (name: string) => plainText(texts.get(name), MAX_TEXT_LENGTH).toLowerCase();
  const ip = word("row/source_ip");
  const messages = plainCount(texts.get("row/count"));
  // Microsoft writes `identities` and an old draft `identifiers`.
  const headerFrom = plainDomain(texts.get("identifiers/header_from") ?? texts.get("identities/header_from"));
  // Every record has its evaluation (RFC 7489 appendix C, RFC 9990). Without it the record would count as failed.
  if (isIP(ip) === 0 || messages === 0 || !texts.has("row/policy_evaluated")) return [];
  return [
    {
      ip,
      messages,
      disposition:
        /^(none|quarantine|reject|pass)$/.exec(word("row/policy_evaluated/disposition"))?.[0] ?? "none",
      dkim: word("row/policy_evaluated/dkim") === "pass",
      spf: word("row/policy_evaluated/spf") === "pass",
      headerFrom,
      signers: [
        ...new Set(
          signers
            .filter(({ result }) => result.trim().toLowerCase() === "pass")
            .map(({ domain }) => plainDomain(domain))
            .filter((domain) => domain !== ""),
        ),
      ].slice(0, MAX_SIGNERS),
    },
  ];
}

function reportOf(head: ReadonlyMap<string, string>, records: DmarcSource[]): DmarcReport | null {
  const sources = condenseSources(records);
  const begin = secondsOf(head.get("report_metadata/date_range/begin"));
  const end = secondsOf(head.get("report_metadata/date_range/end"));
  const domain = plainDomain(head.get("policy_published/domain"));
  const reportId = plainText(head.get("report_metadata/report_id"), MAX_TEXT_LENGTH);
  const reporter =
    plainText(head.get("report_metadata/org_name"), MAX_TEXT_LENGTH) ||
    plainText(head.get("report_metadata/email"), MAX_TEXT_LENGTH);
  if (sources === null || begin === null || end === null || end < begin) return null;
  if (domain === "" || reportId === "" || reporter === "") return null;
  const policy = /^(none|quarantine|reject)$/i.exec(plainText(head.get("policy_published/p"), 20));
  return {
    kind: "dmarc",
    reporter,
    reportId,
    begin,
    end,
    domain,
    policy: policy?.[0].toLowerCase() ?? null,
    sources,
  };
}

/** Parses seconds since 1970. Some reporters write a fraction. */
function secondsOf(text: string | undefined): Date | null {
  const seconds = Number(plainText(text, 20) || "NaN");
  return Number.isFinite(seconds) ? plainInstant(Math.floor(seconds) * 1000) : null;
}
