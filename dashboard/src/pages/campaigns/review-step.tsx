// The last look before a campaign leaves: what blocks it, what could be better, a test mail; then now or later.
// Before it: campaign-editor.tsx. After it: the report.
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, OctagonX, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { call, type Answer } from "../../api/call.ts";
import { checkCampaign } from "../../api/endpoints.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { AudienceCount } from "./audience-step.tsx";
import type { Campaign } from "./campaign-queries.ts";
import { ScheduleDialog, SendDialog, TestDialog } from "./send-dialogs.tsx";

interface ReviewStepProps {
  project: Project;
  campaign: Campaign;
  onContent: () => void;
}

type Asked = "test" | "schedule" | "send" | null;
type Finding = Answer<NonNullable<typeof checkCampaign.endpoint>>["blocks"][number];

export function ReviewStep({ project, campaign, onContent }: ReviewStepProps) {
  const [asked, setAsked] = useState<Asked>(null);
  const check = useQuery({
    queryKey: ["project", project.id, "campaigns", campaign.id, "check", campaign.updatedAt],
    queryFn: ({ signal }) =>
      call(checkCampaign, { projectId: project.id, params: { id: campaign.id }, signal }),
  });
  const isReady = check.data?.ready === true && !project.disabled;
  const close = () => setAsked(null);
  return (
    <div className="grid items-start gap-6 xl:grid-cols-2">
      <div className="flex flex-col gap-5">
        <AudienceCount projectId={project.id} campaign={campaign} />
        {check.isPending && <Skeleton className="h-40" />}
        {check.isError && <Failure error={check.error} onRetry={() => void check.refetch()} />}
        {check.data !== undefined && (
          <Findings blocks={check.data.blocks} warnings={check.data.warnings} onContent={onContent} />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" onClick={() => setAsked("test")}>
            {t("Send a test")}
          </Button>
          <Button disabled={!isReady} onClick={() => setAsked("schedule")}>
            {t("Schedule …")}
          </Button>
          <Button look="primary" disabled={!isReady} onClick={() => setAsked("send")}>
            {t("Send now …")}
          </Button>
        </div>
      </div>
      <MailPreview projectId={project.id} draft={campaign} kind={campaign.kind} />
      {asked === "test" && <TestDialog projectId={project.id} campaign={campaign} onClose={close} />}
      {asked === "schedule" && <ScheduleDialog projectId={project.id} campaign={campaign} onClose={close} />}
      {asked === "send" && <SendDialog projectId={project.id} campaign={campaign} onClose={close} />}
    </div>
  );
}

interface FindingsProps {
  blocks: readonly Finding[];
  warnings: readonly Finding[];
  onContent: () => void;
}

function Findings({ blocks, warnings, onContent }: FindingsProps) {
  if (blocks.length + warnings.length === 0)
    return (
      <Card className="flex items-center gap-2.5 p-5">
        <CircleCheck size={16} className="text-good" aria-hidden />
        <p>{t("Nothing found that could be better.")}</p>
      </Card>
    );
  return (
    <Card className="p-5">
      <h2 className="mb-3 font-semibold">
        {blocks.length > 0 ? t("This has to be mended first") : t("Ready to send, with some advice")}
      </h2>
      <ul className="flex flex-col gap-3 text-sm">
        {[...blocks, ...warnings].map((finding, at) => (
          <li key={at} className="flex gap-2.5">
            {at < blocks.length ? (
              <OctagonX size={15} className="mt-0.5 shrink-0 text-bad" aria-label={t("Blocks sending")} />
            ) : (
              <TriangleAlert size={15} className="mt-0.5 shrink-0 text-warn" aria-label={t("Advice")} />
            )}
            <p>
              {finding.message}{" "}
              {finding.where.line !== null && (
                <span className="text-faint">{t("Line {line}", { line: finding.where.line })}</span>
              )}
            </p>
          </li>
        ))}
      </ul>
      <Button look="quiet" className="mt-3 -ml-3" onClick={onContent}>
        {t("Back to the content")}
      </Button>
    </Card>
  );
}
