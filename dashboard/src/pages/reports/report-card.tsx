// A report in a card, with a file download.
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { REPORTS } from "@postloft/contract/analytics.ts";
import { download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { Period } from "./period.ts";
import type { Breakdown } from "./search.ts";

interface ReportCardProps {
  title: string;
  about?: string;
  projectId: string;
  period: Period;
  report: (typeof REPORTS)[number];
  dimension?: Breakdown;
  /** Controls next to the title. */
  choices?: ReactNode;
  children: ReactNode;
}

export function ReportCard(props: ReportCardProps) {
  const { title, about, projectId, period, report, dimension, choices, children } = props;
  const toast = useToast();
  const saving = useMutation({
    mutationFn: () =>
      download(
        api.analytics.export,
        {
          projectId,
          query: { ...period, report, ...(dimension === undefined ? {} : { dimension }) },
        },
        `${report}.csv`,
      ),
    onError: (error) => toast(t("Couldn't create the file"), error.message),
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
