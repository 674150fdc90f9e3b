// Reviews a draft before sending: its sender, audience, blocking problems, suggestions and the whole email. Then sends or schedules it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, OctagonX, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { isConfirmable } from "@postloft/contract/campaign-findings.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Said } from "../../ui/said.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { TestDialog } from "../mail-editor/test-dialog.tsx";
import { isByDesign } from "../mail-editor/warning-text.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { AudienceCount } from "./audience-step.tsx";
import { CampaignFacts } from "./campaign-facts.tsx";
import type { Campaign } from "./campaign-queries.ts";
import { findingText } from "./finding-text.ts";
import { CONTENT_FIELDS, type ContentField, type Place, type Step } from "./search.ts";
import { ScheduleCampaignDialog, SendDialog } from "./send-dialogs.tsx";

interface ReviewStepProps {
  project: Project;
  campaign: Campaign;
  goTo: GoTo;
}

/** Opens a step; for the content step optionally at a field or at a line of its HTML. */
type GoTo = (step: Step, place?: Place) => void;
type Asked = "test" | "schedule" | "send" | null;
type Finding = ApiResponse<typeof api.campaigns.check>["blocks"][number];

export function ReviewStep({ project, campaign, goTo }: ReviewStepProps) {
  const [asked, setAsked] = useState<Asked>(null);
  const check = useQuery(
    query(api.campaigns.check, { projectId: project.id, params: { id: campaign.id } }, campaign.updatedAt),
  );
  const blocks = check.data?.blocks ?? [];
  const confirmable = [...new Set(blocks.map(({ code }) => code))].filter(isConfirmable);
  const canConfirm = blocks.length > 0 && blocks.every(({ code }) => isConfirmable(code));
  /** The blocking findings that the user accepted. Any change to the findings requires a new confirmation. */
  const [accepted, setAccepted] = useState("");
  const shown = JSON.stringify(blocks);
  const isConfirmed = canConfirm && accepted === shown;
  const isReady = (check.data?.ready === true || isConfirmed) && !project.disabled;
  const dialog = { projectId: project.id, campaign, confirm: isConfirmed ? confirmable : [] };
  const close = () => setAsked(null);
  return (
    <div className="flex flex-col gap-6">
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <CampaignFacts projectId={project.id} campaign={campaign} />
        <AudienceCount projectId={project.id} campaign={campaign} />
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        {check.isPending && <Skeleton className="h-40" />}
        {check.isError && <Failure error={check.error} onRetry={() => void check.refetch()} />}
        {check.data !== undefined && (
          <Findings
            projectId={project.id}
            blocks={listed(check.data.blocks, campaign)}
            // The preview shows what happens by design.
            warnings={listed(check.data.warnings, campaign).filter((one) => !isByDesign(one))}
            goTo={goTo}
          />
        )}
        {canConfirm && (
          <Checkbox
            label={t("I checked these. Send anyway.")}
            checked={isConfirmed}
            onChange={({ target }) => setAccepted(target.checked ? shown : "")}
          />
        )}
        {project.disabled && (
          <p className="text-sm text-bad">{t("This project is suspended and can't send.")}</p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" onClick={() => setAsked("test")}>
            {t("Send test")}
          </Button>
          <Button disabled={!isReady} onClick={() => setAsked("schedule")}>
            {t("Schedule…")}
          </Button>
          <Button look="primary" disabled={!isReady} onClick={() => setAsked("send")}>
            {t("Send now…")}
          </Button>
        </div>
      </div>
      <MailPreview projectId={project.id} draft={campaign} kind={campaign.kind} isQuiet isTall />
      {asked === "test" && (
        <TestDialog
          projectId={project.id}
          send={(body) =>
            call(api.campaigns.test, { projectId: project.id, params: { id: campaign.id }, body })
          }
          onClose={close}
        />
      )}
      {asked === "schedule" && <ScheduleCampaignDialog {...dialog} onClose={close} />}
      {asked === "send" && <SendDialog {...dialog} onClose={close} />}
    </div>
  );
}

/**
 * Returns the findings. Those of an email made of blocks are listed once and without lines, because its author has never seen the HTML.
 */
function listed(findings: readonly Finding[], { design }: Campaign): readonly Finding[] {
  if (!isBlocks(design)) return findings;
  const different = new Map(
    findings.map((one) => [
      `${one.where.field} ${findingText(one)}`,
      { ...one, where: { ...one.where, line: null } },
    ]),
  );
  return [...different.values()];
}

interface FindingsProps {
  projectId: string;
  blocks: readonly Finding[];
  warnings: readonly Finding[];
  goTo: GoTo;
}

function Findings({ projectId, blocks, warnings, goTo }: FindingsProps) {
  if (blocks.length + warnings.length === 0)
    return (
      <Card className="flex items-center gap-2.5 p-5">
        <CircleCheck size={16} className="shrink-0 text-good" aria-hidden />
        <p>{t("No issues found.")}</p>
      </Card>
    );
  return (
    <Card className="flex flex-col gap-5 p-5">
      {blocks.length > 0 && (
        <section>
          <h2 className="mb-3 flex items-center gap-2.5 font-semibold">
            <OctagonX size={15} className="shrink-0 text-bad" aria-hidden />
            {t("Not ready")}
          </h2>
          <FindingList projectId={projectId} findings={blocks} goTo={goTo} />
        </section>
      )}
      {warnings.length > 0 && (
        <section>
          <h2 className="mb-3 flex items-center gap-2.5 font-semibold">
            <TriangleAlert size={15} className="shrink-0 text-warn" aria-hidden />
            {blocks.length > 0 ? t("Suggestions") : t("Ready to send, with suggestions")}
          </h2>
          <FindingList projectId={projectId} findings={warnings} goTo={goTo} />
        </section>
      )}
    </Card>
  );
}

interface FindingListProps {
  projectId: string;
  findings: readonly Finding[];
  goTo: GoTo;
}

function FindingList({ projectId, findings, goTo }: FindingListProps) {
  return (
    <ul className="flex flex-col divide-y divide-line text-sm">
      {findings.map((finding, at) => (
        <li key={at} className="flex items-start justify-between gap-4 py-2.5 pl-6.5 first:pt-0 last:pb-0">
          <p className="min-w-0 wrap-anywhere">
            <bdi>
              <Said>{findingText(finding)}</Said>
            </bdi>{" "}
            {finding.where.line !== null && (
              <span className="text-faint">{t("Line {line}", { line: finding.where.line })}</span>
            )}
          </p>
          <Remedy projectId={projectId} finding={finding} goTo={goTo} />
        </li>
      ))}
    </ul>
  );
}

const REMEDY = "shrink-0 font-medium text-accent hover:underline";
/** Fields edited in the audience step; all others belong to the content step. */
const OF_AUDIENCE = new Set(["audienceType", "audienceFilter", "segmentId", "kind"]);
const FIELD_LABELS: Record<ContentField, string> = {
  subject: t("Subject"),
  previewText: t("Preview text"),
  from: t("From"),
  replyTo: t("Reply-to"),
};
const OF_DNS = /_(missing|faulty)$|^sender_not_verified$/;

/** Links to the place where a finding can be fixed. */
function Remedy({
  projectId,
  finding: { code, where },
  goTo,
}: Omit<FindingListProps, "findings"> & { finding: Finding }) {
  if (where.field === "from" && OF_DNS.test(code))
    return (
      <Link to="/$projectId/domains" params={{ projectId }} className={REMEDY}>
        {t("Domains")}
      </Link>
    );
  if (code === "no_postal_address")
    return (
      <Link to="/$projectId/settings" params={{ projectId }} search={{ tab: "brand" }} className={REMEDY}>
        {t("Brand")}
      </Link>
    );
  if (OF_AUDIENCE.has(where.field))
    return (
      <button type="button" className={REMEDY} onClick={() => goTo("audience")}>
        {t("Audience")}
      </button>
    );
  const field = CONTENT_FIELDS.find((one) => one === where.field);
  const line = where.field === "body" && where.line !== null ? { line: where.line } : {};
  return (
    <button
      type="button"
      className={REMEDY}
      onClick={() => goTo("content", field === undefined ? line : { field })}
    >
      {field === undefined ? t("Content") : FIELD_LABELS[field]}
    </button>
  );
}
