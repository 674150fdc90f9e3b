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
import { isMetric } from "./metric-values.ts";
import { isPeriod, lastDays, timeZone } from "./period.ts";
import { PeriodChoice, type PeriodChange } from "./period-choice.tsx";
import { readReportsSearch, type Breakdown, type Metric, type Subject } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/reports");
const USUAL_SPAN = 30;

interface Change extends PeriodChange {
  about?: Subject;
  by?: Breakdown;
  metric?: Metric;
}

export function ReportsPage() {
  const { about = "mails", days, by = "provider", metric, from, to } = route.useSearch();
  const project = useProject();
  const navigate = route.useNavigate();
  const change = (search: Change) =>
    void navigate({ search: (old) => readReportsSearch({ ...old, ...search }), replace: true });
  const period =
    from === undefined || to === undefined || !isPeriod(from, to)
      ? lastDays(days ?? USUAL_SPAN)
      : { startDate: from, endDate: to, tz: timeZone() };
  const shared = { projectId: project.id, period };
  return (
    <Page title={t("Reports")} about={t("Daily totals, {zone}.", { zone: timeZone() })}>
      <div className="mb-5 flex flex-wrap items-start justify-between gap-3">
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
        <PeriodChoice
          days={from === undefined || to === undefined ? (days ?? USUAL_SPAN) : null}
          period={period}
          onChange={change}
        />
      </div>
      <div className="flex flex-col gap-5">
        {about === "mails" && (
          <MailReport
            {...shared}
            by={by}
            onBy={(dimension) => change({ by: dimension })}
            metric={isMetric(metric) ? metric : "sent"}
            onMetric={(chosen) => change({ metric: chosen })}
          />
        )}
        {about === "audience" && <AudienceReport {...shared} />}
        {about === "events" && <EventReport {...shared} />}
        {about === "deliverability" && <DeliverabilityReport {...shared} />}
      </div>
    </Page>
  );
}
