// Reads SMTP TLS reports in JSON (RFC 8460 §4). Pure.
import { readList, readObject } from "../../platform/foreign-values.ts";
import {
  plainCount,
  plainDomain,
  plainInstant,
  plainText,
  type TlsPolicy,
  type TlsReport,
} from "./report.ts";

/** Real reports never reach this limit. A larger report is rejected, because a partial one would look complete. */
const MAX_POLICIES = 1_000;
const MAX_DETAILS = 20;
const MAX_TEXT_LENGTH = 200;

const shapeOf = (value: unknown) => readObject(value) ?? {};

/** Reads a report. Returns null if it is not a report or lacks the domain, time or id. */
export function readTls(json: string): TlsReport | null {
  let said: Record<string, unknown>;
  try {
    // Removes a byte order mark, which RFC 8259 §8.1 lets a reader ignore.
    said = shapeOf(JSON.parse(json.trimStart()));
  } catch {
    return null;
  }
  const range = shapeOf(said["date-range"]);
  const begin = instantOf(range["start-datetime"]);
  const end = instantOf(range["end-datetime"]);
  const reporter =
    plainText(said["organization-name"], MAX_TEXT_LENGTH) || plainText(said["contact-info"], MAX_TEXT_LENGTH);
  const reportId = plainText(said["report-id"], MAX_TEXT_LENGTH);
  const listed = readList(said["policies"]);
  if (listed.length > MAX_POLICIES) return null;
  const policies = listed.flatMap(policyOf);
  if (begin === null || end === null || end < begin) return null;
  if (reporter === "" || reportId === "" || policies.length === 0) return null;
  return { kind: "tls", reporter, reportId, begin, end, policies };
}

function policyOf(value: unknown): TlsPolicy[] {
  const { policy, summary, "failure-details": details } = shapeOf(value);
  const domain = plainDomain(shapeOf(policy)["policy-domain"]);
  if (domain === "") return [];
  const counts = shapeOf(summary);
  return [
    {
      domain,
      successes: plainCount(counts["total-successful-session-count"]),
      failures: plainCount(counts["total-failure-session-count"]),
      details: readList(details)
        .map(shapeOf)
        .map((one) => ({
          result: plainText(one["result-type"], MAX_TEXT_LENGTH) || "unknown",
          count: plainCount(one["failed-session-count"]),
          mx: plainDomain(one["receiving-mx-hostname"]) || null,
        }))
        .toSorted((one, other) => other.count - one.count)
        .slice(0, MAX_DETAILS),
    },
  ];
}

function instantOf(value: unknown): Date | null {
  return plainInstant(Date.parse(plainText(value, 40)));
}
