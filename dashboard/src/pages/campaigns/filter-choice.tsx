// Edits the filter of a campaign. Saves once every condition is complete, and warns when leaving an incomplete filter.
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
  error: unknown;
  /** Called with whether every condition is complete. */
  onWhole: (isWhole: boolean) => void;
  onChoose: (change: Partial<CampaignBody>) => void;
}

/** Ignores key order, because the database reorders object keys. */
const keyOf = (filter: Filter | null) => hashKey([filter]);

export function FilterChoice({ projectId, campaign, error, onWhole, onChoose }: FilterChoiceProps) {
  const isStored = campaign.audienceType === "FILTERED";
  const stored = (isStored ? (campaign.audienceFilter as Filter | null) : null) ?? EMPTY_FILTER;
  const storedKey = keyOf(filterOf(readTree(stored)));
  const [tree, act] = useReducer(changeTree, stored, readTree);
  // The key of the filter the local edits are based on.
  const [input, setGiven] = useState(storedKey);
  const fields = useFields(projectId, undefined);
  const filter = filterOf(tree);
  const said = keyOf(filter);
  // Load the filter if it was changed elsewhere and there are no local edits.
  if (storedKey !== input && said === input) {
    setGiven(storedKey);
    act({ do: "load", filter: stored });
  }
  const isWhole = filter !== null;
  useEffect(() => onWhole(isWhole), [isWhole, onWhole]);
  useLeaveWarning(!isWhole || said !== input);
  const save = () => {
    if (filter === null || said === input) return;
    setGiven(said);
    onChoose({ audienceType: "FILTERED", segmentId: null, audienceFilter: filter });
  };
  const settled = useDebounced(said, TYPING_PAUSE_MS);
  useEffect(() => {
    if (settled === said) save();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- run once per debounced filter
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
