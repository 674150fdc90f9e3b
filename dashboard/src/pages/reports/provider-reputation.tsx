// Shows results by mailbox provider, and the campaigns that caused bounces and complaints there.
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { AdviceList } from "./advice-list.tsx";
import { adviceText } from "./advice-text.ts";
import { PROVIDERS } from "./names.ts";

type Provider = ApiResponse<typeof api.deliverability.get>["providers"][number];

export function ProviderReputation({ projectId, providers }: { projectId: string; providers: Provider[] }) {
  if (providers.length === 0) return null;
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("Reputation by provider")}</h2>
        <p className="text-sm text-soft">
          {t("Bounces and complaints for each provider, with the main campaigns behind them.")}
        </p>
      </header>
      <AdviceList
        className="px-5 pt-4"
        sentences={providers.flatMap(({ advice }) => advice.map((one) => adviceText(one)))}
      />
      <Table
        label={t("Reputation by provider")}
        columns={columnsOf(projectId)}
        rows={providers}
        rowKey={({ value }) => value}
      />
    </Card>
  );
}

function columnsOf(projectId: string): Column<Provider>[] {
  return [
    { key: "provider", head: t("Provider"), cell: ({ value }) => PROVIDERS[value] ?? value },
    {
      key: "emails",
      head: t("Emails"),
      width: "w-24",
      align: "end",
      cell: ({ emails }) => formatNumber(emails),
    },
    {
      key: "bounced",
      head: t("Bounced"),
      width: "w-28",
      align: "end",
      cell: ({ bounceRate }) => formatPercent(bounceRate),
    },
    {
      key: "blocked",
      head: t("Blocked"),
      width: "w-28",
      align: "end",
      cell: ({ blocked }) => formatNumber(blocked),
    },
    {
      key: "deferred",
      head: t("Deferred"),
      width: "w-28",
      align: "end",
      cell: ({ deferred }) => formatNumber(deferred),
    },
    {
      key: "complained",
      head: t("Complaints"),
      width: "w-32",
      align: "end",
      cell: ({ complaintRate }) => formatPercent(complaintRate),
    },
    {
      key: "campaigns",
      head: t("Top campaigns"),
      cell: ({ campaigns }) => (
        <ul>
          {campaigns.map(({ campaignId, name, bounces, softBounces, complaints }) => (
            <li key={campaignId}>
              <Link
                to="/$projectId/campaigns/$campaignId"
                params={{ projectId, campaignId }}
                className="text-accent hover:underline"
              >
                <bdi>{name ?? t("Deleted campaign")}</bdi>
              </Link>{" "}
              <span className="text-faint">
                {plural(complaints, "{back} bounced, {n} complaint", "{back} bounced, {n} complaints", {
                  back: bounces + softBounces,
                })}
              </span>
            </li>
          ))}
        </ul>
      ),
    },
  ];
}
