// Shows bounce and complaint rates with their limits, and how to lift a suspension.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { BadRate, Level } from "@postloft/contract/security.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { formatInstant, formatNumber, formatPercent } from "../../ui/format.ts";
import { Badge, Card, READABLE_CLASS, type Tone } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { RATE_LIMITS } from "../reports/rate-limits.ts";
import { ReputationCauses } from "./reputation-causes.tsx";
import { ReputationTrend } from "./reputation-trend.tsx";

const LEVELS: Record<Level, { tone: Tone; label: string }> = {
  healthy: { tone: "good", label: t("Healthy") },
  warning: { tone: "warn", label: t("Warning") },
  critical: { tone: "bad", label: t("Critical") },
};

type Security = ApiResponse<typeof api.projects.ownSecurity>;

export function Reputation({ project }: { project: Project }) {
  const security = useQuery(query(api.projects.ownSecurity, { projectId: project.id }));
  const failure = security.isError && (
    <Failure error={security.error} onRetry={() => void security.refetch()} />
  );
  if (security.data === undefined) return failure || <Skeleton className="h-60" />;
  const { status, disabledBy } = security.data;
  return (
    <div className="flex flex-col gap-5">
      {failure}
      {disabledBy === "RATES" && <Suspended key={project.id} project={project} />}
      {disabledBy === "ADMIN" && (
        <DisabledCard>
          {t("The project was disabled by your administrator. Ask them to enable it.")}
        </DisabledCard>
      )}
      <Tiles
        tiles={[
          { label: t("Emails, 24 hours"), value: formatNumber(status.twentyFourHour.total) },
          { label: t("Emails, 7 days"), value: formatNumber(status.sevenDay.total) },
          { label: t("Bounces, 7 days"), value: formatNumber(status.sevenDay.bounces) },
          { label: t("Complaints, 7 days"), value: formatNumber(status.sevenDay.complaints) },
        ]}
      />
      <Rates security={security.data} />
      <ReputationTrend projectId={project.id} />
      <ReputationCauses projectId={project.id} />
      {status.isNewProject && (
        <p className="text-sm text-soft">{t("Not enough emails yet to calculate rates.")}</p>
      )}
      <Suspensions security={security.data} />
    </div>
  );
}

interface Rate {
  label: string;
  percent: number;
  level: Level;
  /** A percentage, as in the contract. */
  warning: number;
  critical: number;
}

function ratesOf({ status: { sevenDay, allTime }, levels }: Security): Rate[] {
  return [
    {
      label: t("Bounces, 7 days"),
      percent: sevenDay.bounceRate,
      level: levels.bounce7Day,
      ...RATE_LIMITS.bounces.sevenDay,
    },
    {
      label: t("Bounces, all time"),
      percent: allTime.bounceRate,
      level: levels.bounceAllTime,
      ...RATE_LIMITS.bounces.allTime,
    },
    {
      label: t("Complaints, 7 days"),
      percent: sevenDay.complaintRate,
      level: levels.complaint7Day,
      ...RATE_LIMITS.complaints.sevenDay,
    },
    {
      label: t("Complaints, all time"),
      percent: allTime.complaintRate,
      level: levels.complaintAllTime,
      ...RATE_LIMITS.complaints.allTime,
    },
  ];
}

const RATES: Array<Column<Rate>> = [
  { key: "label", head: t("Rate"), cell: ({ label }) => <span className="font-medium">{label}</span> },
  {
    key: "percent",
    head: t("Current"),
    width: "w-24",
    align: "end",
    cell: ({ percent }) => formatPercent(percent),
  },
  {
    key: "warning",
    head: t("Warning at"),
    width: "w-32",
    align: "end",
    cell: ({ warning }) => <span className="text-soft">{formatPercent(warning)}</span>,
  },
  {
    key: "critical",
    head: t("Critical at"),
    width: "w-32",
    align: "end",
    cell: ({ critical }) => <span className="text-soft">{formatPercent(critical)}</span>,
  },
  {
    key: "level",
    head: t("Level"),
    width: "w-28",
    cell: ({ level }) => <Badge tone={LEVELS[level].tone}>{LEVELS[level].label}</Badge>,
  },
];

function Rates({ security }: { security: Security }) {
  return (
    <Card className="overflow-hidden">
      <Table label={t("Rates")} columns={RATES} rows={ratesOf(security)} rowKey={({ label }) => label} />
    </Card>
  );
}

function Suspensions({ security: { suspensions } }: { security: Security }) {
  if (suspensions.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Suspensions")}</h2>
      <ul className="flex flex-col gap-2 text-sm">
        {suspensions.map(({ at, reasons, rates }) => (
          <li key={at}>
            <time dateTime={at} className="text-faint">
              {formatInstant(at)}
            </time>{" "}
            {(rates.length > 0 ? rates.map(rateText) : reasons).join(" ")}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Sentences by rate and period. */
const RATE_TEXTS: Record<BadRate["of"], Record<BadRate["window"], (values: RateValues) => string>> = {
  bounces: {
    sevenDay: (values) =>
      t("{rate} of {mails} emails bounced in the last seven days (limit {threshold}).", values),
    allTime: (values) => t("{rate} of all {mails} emails bounced (limit {threshold}).", values),
  },
  complaints: {
    sevenDay: (values) =>
      t("{rate} of {mails} emails were reported as spam in the last seven days (limit {threshold}).", values),
    allTime: (values) => t("{rate} of all {mails} emails were reported as spam (limit {threshold}).", values),
  },
};
type RateValues = Record<"mails" | "rate" | "threshold", string>;

function rateText({ of, window, mails, rate, threshold }: BadRate): string {
  return RATE_TEXTS[of][window]({
    mails: formatNumber(mails),
    rate: formatPercent(rate),
    threshold: formatPercent(threshold),
  });
}

function Suspended({ project }: { project: Project }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [reason, setReason] = useState("");
  useLeaveWarning(reason !== "");
  const appError = whyNot(project, "OWNER");
  const enabling = useMutation({
    mutationFn: () => call(api.projects.enable, { projectId: project.id, body: { reason } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      await queries.invalidateQueries({ queryKey: projectKey(project.id) });
      toast(t("Project enabled"));
    },
  });
  return (
    <DisabledCard>
      {appError ??
        t(
          "Fix the source of the bad addresses first, such as a form or an import. Then describe it here and enable the project. Pending emails are sent immediately. Remove the bounced addresses before you send again.",
        )}
      {appError === undefined && (
        <div className="mt-4">
          <OneFieldForm
            label={t("Cause and fix")}
            help={t("Recorded in the audit log.")}
            value={reason}
            onChange={setReason}
            action={t("Enable project")}
            asking={enabling}
          />
        </div>
      )}
    </DisabledCard>
  );
}

function DisabledCard({ children }: { children: ReactNode }) {
  return (
    <Card className={`p-5 ${READABLE_CLASS}`}>
      <h2 className="font-semibold text-bad">{t("This project is disabled and can't send")}</h2>
      <div className="mt-1 text-sm text-soft">{children}</div>
    </Card>
  );
}
