// Shows email statistics per day as a line chart.
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { DayChart } from "../../ui/day-chart.tsx";

type Day = ApiResponse<typeof api.analytics.timeseries>[number];

export function MailChart({ days }: { days: readonly Day[] }) {
  return (
    <DayChart
      label={t("Emails per day")}
      dates={days.map(({ date }) => date)}
      series={[
        { label: t("Sent"), tone: "accent", values: days.map(({ emails }) => emails) },
        { label: t("Opened"), tone: "good", values: days.map(({ opens }) => opens) },
        { label: t("Clicked"), tone: "warn", values: days.map(({ clicks }) => clicks) },
        { label: t("Bounced"), tone: "bad", values: days.map(({ bounces }) => bounces) },
      ]}
    />
  );
}
