// Chooses a campaign's audience and shows how many contacts are excluded and why. Saves each choice immediately.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { formatNumber } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";
import { capsQuery, roomOf } from "../settings/reached-caps.ts";
import { KIND_OPTIONS, KINDS } from "../templates/kinds.ts";
import { audienceQuery, type Campaign, type CampaignBody } from "./campaign-queries.ts";
import { FilterChoice } from "./filter-choice.tsx";
import { useAudienceDraft } from "./use-audience-draft.ts";

interface AudienceStepProps {
  projectId: string;
  campaign: Campaign;
  onNext: () => void;
}

export function AudienceStep({ projectId, campaign, onNext }: AudienceStepProps) {
  const { shown, save, retry, settled, saving } = useAudienceDraft(projectId, campaign);
  /** True while a filter was chosen but is incomplete. The stored audience stays until the filter is complete. */
  const [isFilterBegun, setFilterBegun] = useState(false);
  const [isWhole, setWhole] = useState(true);
  const isFiltered = isFilterBegun || !isWhole || shown.audienceType === "FILTERED";
  const choose = (change: Partial<CampaignBody>) => {
    if (change.audienceType !== undefined) {
      setFilterBegun(false);
      setWhole(true);
    }
    save(change);
  };
  const goOn = async () => {
    if (await settled()) onNext();
  };
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex min-w-0 flex-col gap-5">
        {saving.isError && (
          <Failure error={saving.error} atInputs={["audienceFilter.conditions."]} onRetry={retry} />
        )}
        <AudienceChoice
          projectId={projectId}
          campaign={shown}
          isFiltered={isFiltered}
          error={saving.error}
          onFilter={() => setFilterBegun(true)}
          onWhole={setWhole}
          onChoose={choose}
        />
        <div className="max-w-96">
          <Select
            label={t("Type")}
            options={KIND_OPTIONS}
            value={shown.kind}
            help={KINDS[shown.kind].about}
            onChange={({ target }) => choose({ kind: target.value as Campaign["kind"] })}
          />
        </div>
        <div className="flex items-center justify-end gap-3">
          <span role="status" className="text-sm text-faint">
            {saving.isPending ? t("Saving…") : saving.isError || !isWhole ? t("Unsaved changes") : t("Saved")}
          </span>
          <Button look="primary" disabled={!isWhole || saving.isError} onClick={() => void goOn()}>
            {t("Continue")}
          </Button>
        </div>
      </div>
      {isWhole ? (
        <AudienceCount projectId={projectId} campaign={campaign} />
      ) : (
        <Card className="p-5 text-sm text-soft">{t("Complete the conditions to see the recipients.")}</Card>
      )}
    </div>
  );
}

interface AudienceChoiceProps {
  projectId: string;
  campaign: Campaign;
  /** Whether the filter option is selected. Its choice is saved once the filter is complete. */
  isFiltered: boolean;
  error: unknown;
  onFilter: () => void;
  onWhole: (isWhole: boolean) => void;
  onChoose: (change: Partial<CampaignBody>) => void;
}

function AudienceChoice({
  projectId,
  campaign,
  isFiltered,
  error,
  onFilter,
  onWhole,
  onChoose,
}: AudienceChoiceProps) {
  const segments = useQuery(segmentsQuery(projectId));
  const { data: rows = [] } = segments;
  const first = rows[0]?.id;
  const isSegment = !isFiltered && campaign.audienceType === "SEGMENT";
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 font-semibold">{t("Audience")}</legend>
      <Option
        isChosen={!isFiltered && !isSegment}
        label={t("Everyone")}
        about={t("Every contact that can receive this type of email.")}
        onChoose={() => onChoose({ audienceType: "ALL", segmentId: null, audienceFilter: null })}
      />
      <Option
        isChosen={isSegment}
        label={t("Segment")}
        about={
          segments.isSuccess && first === undefined
            ? t("No segments yet.")
            : t("Contacts in the segment when you send.")
        }
        isDisabled={first === undefined && !isSegment}
        onChoose={() =>
          first !== undefined && onChoose({ audienceType: "SEGMENT", segmentId: first, audienceFilter: null })
        }
      >
        {isSegment && (
          <div className="mt-3 max-w-80">
            <Select
              label={t("Segment")}
              options={rows.map(({ id, name }) => ({ value: id, label: name }))}
              value={campaign.segmentId ?? ""}
              onChange={({ target }) => onChoose({ audienceType: "SEGMENT", segmentId: target.value })}
            />
          </div>
        )}
      </Option>
      <Option
        isChosen={isFiltered}
        label={t("Custom filter")}
        about={t("A one-off filter for this campaign.")}
        onChoose={onFilter}
      >
        {isFiltered && <FilterChoice {...{ projectId, campaign, error, onWhole, onChoose }} />}
      </Option>
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
    <div className={`rounded-md border bg-surface p-4 ${isChosen ? "border-accent" : "border-line"}`}>
      <label className="flex gap-2.5">
        <input
          type="radio"
          name="audience"
          checked={isChosen}
          disabled={isDisabled}
          onChange={onChoose}
          className="mt-1 shrink-0 self-start accent-accent-fill"
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

/** Shows how many contacts would receive the campaign now, and why others are excluded. */
export function AudienceCount({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const audience = useQuery(audienceQuery(projectId, campaign));
  if (audience.isPending) return <Skeleton className="h-36" />;
  if (audience.isError) return <Failure error={audience.error} onRetry={() => void audience.refetch()} />;
  const { total, eligible } = audience.data;
  return (
    <Card className="p-5">
      <h2 className="text-sm text-soft">{t("Recipients")}</h2>
      <p className="mt-0.5 text-xl font-semibold tabular-nums" role="status">
        {t("{eligible} of {total}", { eligible: formatNumber(eligible), total: formatNumber(total) })}
      </p>
      <LeftOut audience={audience.data} />
      {/* A scheduled campaign counts in the month in which it starts, and its usage isn't known yet. */}
      {campaign.status === "DRAFT" && <OverCap projectId={projectId} eligible={eligible} />}
    </Card>
  );
}

/** Warns if the monthly cap has no room for the audience, because the server refuses such a campaign. */
function OverCap({ projectId, eligible }: { projectId: string; eligible: number }) {
  const room = roomOf(useQuery(capsQuery(projectId)).data?.campaigns);
  if (room === null || eligible <= room) return null;
  return (
    <p role="alert" className="mt-3 text-sm text-warn">
      {room === 0
        ? t("The monthly cap on campaign emails is reached, so campaigns can't start.")
        : plural(
            room,
            "The monthly cap leaves {n} campaign email, so this campaign can't start.",
            "The monthly cap leaves {n} campaign emails, so this campaign can't start.",
          )}{" "}
      <Link
        to="/$projectId/settings"
        params={{ projectId }}
        search={{ tab: "usage" }}
        className="text-accent underline"
      >
        {t("View usage")}
      </Link>
    </p>
  );
}

type Audience = ApiResponse<typeof api.campaigns.audience>;

/** Lists the reasons why contacts are excluded. */
export function LeftOut({ audience: { excluded } }: { audience: Audience }) {
  return (
    <ul className="mt-2 flex flex-col gap-1 text-sm text-soft empty:hidden">
      {excluded.unsubscribed > 0 && (
        <li>{plural(excluded.unsubscribed, "{n} not subscribed", "{n} not subscribed")}</li>
      )}
      {excluded.suppressed > 0 && (
        <li>{plural(excluded.suppressed, "{n} on the suppression list", "{n} on the suppression list")}</li>
      )}
    </ul>
  );
}
