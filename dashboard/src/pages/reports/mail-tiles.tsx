// Mails of a time as a few numbers, each beside what it was before.
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getSummary } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { lastDays } from "./period.ts";

/** How a number compares with the time before: nothing where there was none. */
function change(now: number, before: number): string {
  if (before === 0) return t("none before");
  const share = (now - before) / before;
  if (share === 0) return t("as before");
  return share > 0
    ? t("{percent} more than before", { percent: formatPercent(share * 100) })
    : t("{percent} less than before", { percent: formatPercent(-share * 100) });
}

const rateBefore = (percent: number) => t("{before} before", { before: formatPercent(percent) });

export function MailTiles({ projectId, days }: { projectId: string; days: number }) {
  const period = lastDays(days);
  const summary = useQuery({
    queryKey: ["project", projectId, "reports", "summary", period],
    queryFn: ({ signal }) => call(getSummary, { projectId, query: period, signal }),
  });
  if (summary.isError) return <Failure error={summary.error} onRetry={() => void summary.refetch()} />;
  if (summary.data === undefined) return <Skeleton className="h-23 rounded-lg" />;
  const { current, previous } = summary.data;
  return (
    <Tiles
      tiles={[
        {
          label: t("Sent"),
          value: formatNumber(current.emails),
          note: change(current.emails, previous.emails),
        },
        {
          label: t("Opened by people"),
          value: formatPercent(current.openRate),
          note: rateBefore(previous.openRate),
        },
        {
          label: t("Clicked"),
          value: formatPercent(current.clickRate),
          note: rateBefore(previous.clickRate),
        },
        {
          label: t("Bounced"),
          value: formatPercent(current.bounceRate),
          note: rateBefore(previous.bounceRate),
        },
        {
          label: t("Complaints"),
          value: formatNumber(current.complaints),
          note: change(current.complaints, previous.complaints),
        },
      ]}
    />
  );
}
