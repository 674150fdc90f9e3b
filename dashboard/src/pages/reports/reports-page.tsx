// Reports on emails, audience, events and deliverability over a period.
import { getRouteApi } from "@tanstack/react-router";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Page } from "../../ui/page.tsx";
import { useProject } from "../project-shell.tsx";
import { AudienceReport } from "./audience-report.tsx";
import { DeliverabilityReport } from "./deliverability-report.tsx";
import { EventReport } from "./event-report.tsx";
import { MailReport } from "./mail-report.tsx";
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
    <Page title={t("Reports")} about={t("Daily totals in your time zone.")}>
      <div className="mb-5 flex flex-wrap items-center justify-between gap-3">
        <Choices
          label={t("Report")}
          options={[
            { value: "mails", label: t("Emails") },
            { value: "audience", label: t("Audience") },
            { value: "events", label: t("Events") },
            { value: "deliverability", label: t("Deliverability") },
          ]}
          value={about}
          onChoose={(chosen) => change({ about: chosen })}
        />
        <Choices
          label={t("Period")}
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
