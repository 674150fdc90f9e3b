// A condition of a campaign's own: saved as soon as all of it is said, and asked about when it is left before.
import { hashKey } from "@tanstack/react-query";
import { useEffect, useReducer, useState } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { useDebounced } from "../../ui/use-debounced.ts";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { ConditionBuilder } from "../segments/condition-builder/condition-builder.tsx";
import { sentenceOf } from "../segments/condition-builder/condition-sentence.ts";
import {
  changeTree,
  EMPTY_FILTER,
  filterOf,
  readTree,
} from "../segments/condition-builder/condition-tree.ts";
import { useFields } from "../segments/condition-builder/fields.ts";
import type { Campaign, CampaignBody } from "./campaign-queries.ts";

const TYPING_PAUSE_MS = 600;

interface FilterChoiceProps {
  projectId: string;
  campaign: Campaign;
  /** What saving it failed with. */
  error: unknown;
  /** Told whether every condition says all it has to. */
  onWhole: (isWhole: boolean) => void;
  onChoose: (change: Partial<CampaignBody>) => void;
}

/** The database keeps the names of an object in an order of its own. */
const keyOf = (filter: Filter | null) => hashKey([filter]);

export function FilterChoice({ projectId, campaign, error, onWhole, onChoose }: FilterChoiceProps) {
  const isStored = campaign.audienceType === "FILTERED";
  const stored = (isStored ? (campaign.audienceFilter as Filter | null) : null) ?? EMPTY_FILTER;
  const storedKey = keyOf(filterOf(readTree(stored)));
  const [tree, act] = useReducer(changeTree, stored, readTree);
  // Whoever takes it keeps it until it is stored.
  const [given, setGiven] = useState(storedKey);
  const fields = useFields(projectId, undefined);
  const filter = filterOf(tree);
  const said = keyOf(filter);
  // Somebody else changed it, and nothing is written here.
  if (storedKey !== given && said === given) {
    setGiven(storedKey);
    act({ do: "load", filter: stored });
  }
  const isWhole = filter !== null;
  useEffect(() => onWhole(isWhole), [isWhole, onWhole]);
  useLeaveWarning(!isWhole || said !== given);
  const save = () => {
    if (filter === null || said === given) return;
    setGiven(said);
    onChoose({ audienceType: "FILTERED", segmentId: null, audienceFilter: filter });
  };
  const settled = useDebounced(said, TYPING_PAUSE_MS);
  useEffect(() => {
    if (settled === said) save();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each condition that stands still
  }, [settled]);
  return (
    <div className="mt-4" onBlur={save}>
      <ConditionBuilder tree={tree} fields={fields} error={error} path="audienceFilter" onAction={act} />
      {filter !== null && (
        <p className="mt-4 border-t border-line pt-3 text-sm text-soft">{sentenceOf(filter, fields)}</p>
      )}
    </div>
  );
}
