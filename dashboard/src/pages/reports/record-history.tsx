// Shows the history of each of a domain's DNS records.
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";
import { Badge, type Tone } from "../../ui/page.tsx";

type DnsRecord = ApiResponse<typeof api.deliverability.get>["domains"][number]["records"][number];

const STATES: Readonly<Record<string, { tone: Tone; label: string }>> = {
  FOUND: { tone: "good", label: t("Found") },
  MISSING: { tone: "warn", label: t("Missing") },
  MISMATCH: { tone: "bad", label: t("Differs") },
};

export function RecordHistory({ records }: { records: DnsRecord[] }) {
  const changed = records.filter(({ history }) => history.length > 0);
  if (changed.length === 0) return null;
  const changes = changed.reduce((sum, { history }) => sum + history.length - 1, 0);
  return (
    <details className="text-sm">
      <summary className="cursor-pointer font-medium">
        {changes === 0
          ? t("DNS records: no changes since the first check")
          : plural(changes, "DNS records: {n} change", "DNS records: {n} changes")}
      </summary>
      {changed.map(({ purpose, name, history }) => (
        <section key={`${purpose} ${name}`} className="mt-3">
          <h3 className="font-mono text-xs wrap-anywhere text-soft">{name}</h3>
          <ol className="mt-1 flex flex-col gap-1.5">
            {history.map(({ since, status, found }) => (
              <li key={since} className="flex flex-wrap items-baseline gap-2">
                <time dateTime={since} className="w-40 text-faint">
                  {formatInstant(since)}
                </time>
                <Badge tone={STATES[status]?.tone ?? "neutral"}>{STATES[status]?.label ?? status}</Badge>
                <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere whitespace-pre-line">
                  {found ?? "–"}
                </code>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </details>
  );
}
