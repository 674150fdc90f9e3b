// Numbers over a time: mails, the audience, events. Before it: the navigation. After it: one file for each subject.
import { getRouteApi } from "@tanstack/react-router";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { REPORTS } from "@postloft/contract/analytics.ts";
import { download } from "../../api/call.ts";
import { exportReport } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useProject } from "../project-shell.tsx";
import { AudienceReport } from "./audience-report.tsx";
import { DeliverabilityReport } from "./deliverability-report.tsx";
import { EventReport } from "./event-report.tsx";
import { MailReport } from "./mail-report.tsx";
import { lastDays } from "./period.ts";
import type { Breakdown, Span, Subject } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/reports");
const USUAL_SPAN = 30;

export function ReportsPage() {
  const { about = "mails", days = USUAL_SPAN, by = "provider" } = route.useSearch();
  const project = useProject();
  const navigate = route.useNavigate();
  const change = (search: { about?: Subject; days?: Span; by?: Breakdown }) =>
    void navigate({ search: (old) => ({ ...old, ...search }), replace: true });
  const shared = { projectId: project.id, days };
  return (
    <Page title={t("Reports")} about={t("What happened over time, by days of your own zone.")}>
      <div className="mb-5 flex flex-wrap items-center justify-between gap-3">
        <Choices
          label={t("About")}
          options={[
            { value: "mails", label: t("Mails") },
            { value: "audience", label: t("Audience") },
            { value: "events", label: t("Events") },
            { value: "deliverability", label: t("Deliverability") },
          ]}
          value={about}
          onChoose={(chosen) => change({ about: chosen })}
        />
        <Choices
          label={t("Time")}
          options={[
            { value: "7", label: t("7 days") },
            { value: "30", label: t("30 days") },
            { value: "90", label: t("90 days") },
            { value: "365", label: t("A year") },
          ]}
          value={String(days) as `${Span}`}
          onChoose={(chosen) => change({ days: Number(chosen) as Span })}
        />
      </div>
      <div className="flex flex-col gap-5">
        {about === "mails" && (
          <MailReport {...shared} by={by} onBy={(dimension) => change({ by: dimension })} />
        )}
        {about === "audience" && <AudienceReport {...shared} />}
        {about === "events" && <EventReport {...shared} />}
        {about === "deliverability" && <DeliverabilityReport {...shared} />}
      </div>
    </Page>
  );
}

interface ReportCardProps {
  title: string;
  about?: string;
  projectId: string;
  days: number;
  report: (typeof REPORTS)[number];
  dimension?: Breakdown;
  /** Beside the title. */
  choices?: ReactNode;
  children: ReactNode;
}

/** One report, and the same rows as a file. */
export function ReportCard(props: ReportCardProps) {
  const { title, about, projectId, days, report, dimension, choices, children } = props;
  const toast = useToast();
  const saving = useMutation({
    mutationFn: () =>
      download(
        exportReport,
        {
          projectId,
          query: { ...lastDays(days), report, ...(dimension === undefined ? {} : { dimension }) },
        },
        `${report}.csv`,
      ),
    onError: (error) => toast(t("The file could not be made"), error.message),
  });
  return (
    <Card>
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-5 py-3">
        <div className="min-w-40 flex-1">
          <h2 className="font-semibold">{title}</h2>
          {about !== undefined && <p className="text-sm text-soft">{about}</p>}
        </div>
        {choices}
        <Button
          look="quiet"
          busy={saving.isPending}
          onClick={() => saving.mutate()}
          aria-label={t("{title} as CSV", { title })}
        >
          <Download size={14} aria-hidden /> {t("CSV")}
        </Button>
      </header>
      <div className="p-5">{children}</div>
    </Card>
  );
}
