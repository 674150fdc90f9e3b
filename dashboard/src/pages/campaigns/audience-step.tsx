// Who gets a campaign: everybody, or a segment; with the count of those left out, and why. A choice is saved as it is made.
// Before it: campaign-editor.tsx. After it: the content.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Answer } from "../../api/call.ts";
import type { getCampaignAudience } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { formatNumber } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";
import { KIND_OPTIONS, KINDS } from "../templates/kinds.ts";
import { audienceQuery, useSavingCampaign, type Campaign, type CampaignBody } from "./campaign-queries.ts";

interface AudienceStepProps {
  projectId: string;
  campaign: Campaign;
  onNext: () => void;
}

export function AudienceStep({ projectId, campaign, onNext }: AudienceStepProps) {
  const saving = useSavingCampaign(projectId, campaign);
  const choose = (change: Partial<CampaignBody>) => saving.mutate(change);
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex flex-col gap-5">
        {saving.isError && <Failure error={saving.error} />}
        <AudienceChoice
          projectId={projectId}
          campaign={campaign}
          isBusy={saving.isPending}
          onChoose={choose}
        />
        <div className="max-w-96">
          <Select
            label={t("Type")}
            options={KIND_OPTIONS}
            value={campaign.kind}
            help={KINDS[campaign.kind].about}
            disabled={saving.isPending}
            onChange={({ target }) => choose({ kind: target.value as Campaign["kind"] })}
          />
        </div>
        <div className="flex justify-end">
          <Button look="primary" onClick={onNext}>
            {t("Continue")}
          </Button>
        </div>
      </div>
      <AudienceCount projectId={projectId} campaign={campaign} />
    </div>
  );
}

interface AudienceChoiceProps {
  projectId: string;
  campaign: Campaign;
  isBusy: boolean;
  onChoose: (change: Partial<CampaignBody>) => void;
}

function AudienceChoice({ projectId, campaign, isBusy, onChoose: choose }: AudienceChoiceProps) {
  const segments = useQuery(segmentsQuery(projectId));
  const { data: rows = [] } = segments;
  const first = rows[0]?.id;
  return (
    <fieldset className="flex flex-col gap-2" disabled={isBusy}>
      <legend className="mb-2 font-semibold">{t("Who gets it?")}</legend>
      <Option
        isChosen={campaign.audienceType === "ALL"}
        label={t("Everybody")}
        about={t("All contacts that may get mail of this type.")}
        onChoose={() => choose({ audienceType: "ALL", segmentId: null, audienceFilter: null })}
      />
      <Option
        isChosen={campaign.audienceType === "SEGMENT"}
        label={t("A segment")}
        about={
          segments.isSuccess && first === undefined
            ? t("There is no segment yet.")
            : t("Those who are in it at the moment it leaves.")
        }
        isDisabled={first === undefined}
        onChoose={() =>
          first !== undefined && choose({ audienceType: "SEGMENT", segmentId: first, audienceFilter: null })
        }
      >
        {campaign.audienceType === "SEGMENT" && (
          <div className="mt-3 max-w-80">
            <Select
              label={t("Segment")}
              options={rows.map(({ id, name }) => ({ value: id, label: name }))}
              value={campaign.segmentId ?? ""}
              onChange={({ target }) => choose({ segmentId: target.value })}
            />
          </div>
        )}
      </Option>
      {campaign.audienceType === "FILTERED" && (
        <Option
          isChosen
          label={t("A filter of its own")}
          about={t("It was given through the API. Choosing another audience removes it.")}
          onChoose={() => undefined}
        />
      )}
    </fieldset>
  );
}

interface OptionProps {
  isChosen: boolean;
  label: string;
  about: string;
  isDisabled?: boolean;
  onChoose: () => void;
  children?: ReactNode;
}

function Option({ isChosen, label, about, isDisabled = false, onChoose, children }: OptionProps) {
  return (
    <div className="rounded-md border border-line bg-surface p-4 has-checked:border-accent">
      <label className="flex gap-2.5">
        <input
          type="radio"
          name="audience"
          checked={isChosen}
          disabled={isDisabled}
          onChange={onChoose}
          className="mt-1 accent-accent-fill"
        />
        <span>
          <span className="block font-medium">{label}</span>
          <span className="text-sm text-soft">{about}</span>
        </span>
      </label>
      {children}
    </div>
  );
}

/** How many would get it now, and who is left out why. */
export function AudienceCount({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const audience = useQuery(audienceQuery(projectId, campaign));
  if (audience.isPending) return <Skeleton className="h-36" />;
  if (audience.isError) return <Failure error={audience.error} onRetry={() => void audience.refetch()} />;
  const { total, eligible } = audience.data;
  return (
    <Card className="p-5">
      <h2 className="text-sm text-soft">{t("Would get it now")}</h2>
      <p className="mt-0.5 text-xl font-semibold tabular-nums" role="status">
        {t("{eligible} of {total}", { eligible: formatNumber(eligible), total: formatNumber(total) })}
      </p>
      <LeftOut audience={audience.data} />
    </Card>
  );
}

type Audience = Answer<NonNullable<typeof getCampaignAudience.endpoint>>;

/** Why some of the audience would not get it. */
export function LeftOut({ audience: { excluded } }: { audience: Audience }) {
  return (
    <ul className="mt-2 flex flex-col gap-1 text-sm text-soft empty:hidden">
      {excluded.unsubscribed > 0 && (
        <li>{plural(excluded.unsubscribed, "{n} is not subscribed", "{n} are not subscribed")}</li>
      )}
      {excluded.suppressed > 0 && (
        <li>
          {plural(excluded.suppressed, "{n} is on the suppression list", "{n} are on the suppression list")}
        </li>
      )}
    </ul>
  );
}
