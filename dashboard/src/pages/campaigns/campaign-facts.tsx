// Lists what a campaign sends and to whom: subject, preview text, sender, type and audience.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { KINDS } from "../templates/kinds.ts";
import type { Campaign, ReportProps } from "./campaign-queries.ts";

export function CampaignFacts({ projectId, campaign }: ReportProps) {
  const { subject, previewText, from, fromName, replyTo, kind } = campaign;
  return (
    <Card className="p-5">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
        <Fact name={t("Subject")}>{subject}</Fact>
        {previewText !== null && <Fact name={t("Preview text")}>{previewText}</Fact>}
        <Fact name={t("From")}>{fromName === null ? from : `${fromName} <${from}>`}</Fact>
        <Fact name={t("Reply-to")}>{replyTo ?? from}</Fact>
        <Fact name={t("Type")}>{KINDS[kind].label}</Fact>
        <Fact name={t("Audience")}>
          <Audience projectId={projectId} campaign={campaign} />
        </Fact>
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">
        <bdi>{children}</bdi>
      </dd>
    </>
  );
}

function Audience({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const { audienceType, segmentId } = campaign;
  const segment = useQuery({
    ...query(api.segments.get, { projectId, params: { id: segmentId ?? "" } }),
    enabled: segmentId !== null,
  });
  if (audienceType === "ALL") return t("Everyone");
  if (audienceType === "FILTERED") return t("Custom filter");
  return segment.data?.name ?? t("Segment");
}
