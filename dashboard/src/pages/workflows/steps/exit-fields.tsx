// The exit conditions of a workflow.
import { Plus } from "lucide-react";
import { useEffect, useReducer, useState } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/field.tsx";
import { ConditionBuilder } from "../../segments/condition-builder/condition-builder.tsx";
import {
  changeTree,
  EMPTY_FILTER,
  filterOf,
  readTree,
} from "../../segments/condition-builder/condition-tree.ts";
import { useFields } from "../../segments/condition-builder/fields.ts";
import { EventField } from "../event-field.tsx";
import { RemoveButton } from "./remove-button.tsx";
import { SegmentSelect } from "./segment-select.tsx";

type ExitType = ExitCondition["type"];

const EXIT_NAMES: Record<ExitType, string> = {
  EVENT: t("An event happens"),
  FILTER: t("The contact matches a filter"),
  SEGMENT: t("The contact isn't in a segment"),
};
const FIRST_EXITS: Record<ExitType, ExitCondition> = {
  EVENT: { type: "EVENT", eventName: "" },
  FILTER: { type: "FILTER", filter: EMPTY_FILTER },
  SEGMENT: { type: "SEGMENT", segmentId: "" },
};

interface ExitFieldsProps {
  projectId: string;
  conditions: readonly ExitCondition[];
  /** `isComplete` is false while a condition can't be saved. */
  onChange: (conditions: ExitCondition[], isComplete: boolean) => void;
  error: unknown;
}

interface Line {
  key: number;
  condition: ExitCondition;
  isComplete: boolean;
}

export function ExitFields({ projectId, conditions, onChange, error }: ExitFieldsProps) {
  const [lines, setLines] = useState(() =>
    conditions.map((condition, key): Line => ({ key, condition, isComplete: true })),
  );
  const [nextKey, setNextKey] = useState(lines.length);
  const change = (next: Line[]) => {
    setLines(next);
    onChange(
      next.map(({ condition }) => condition),
      next.every(({ isComplete }) => isComplete),
    );
  };
  const put = (condition: ExitCondition, isComplete: boolean, key: number) =>
    change(lines.map((line) => (line.key === key ? { key, condition, isComplete } : line)));
  return (
    <fieldset>
      <legend className="text-sm font-medium">{t("Exit conditions")}</legend>
      <p className="mb-2 text-sm text-soft">
        {t("A contact leaves the workflow as soon as one of these is true.")}
      </p>
      <div className="flex flex-col gap-3">
        {lines.map(({ key, condition }, at) => (
          <div key={key} className="flex flex-col gap-2.5 rounded-md border border-line p-3">
            <div className="flex items-end gap-2">
              <div className="grow">
                <Select
                  label={t("Exit when")}
                  options={(Object.keys(EXIT_NAMES) as ExitType[]).map((value) => ({
                    value,
                    label: EXIT_NAMES[value],
                  }))}
                  value={condition.type}
                  onChange={({ target }) => {
                    const type = target.value as ExitType;
                    put(FIRST_EXITS[type], false, key);
                  }}
                />
              </div>
              <RemoveButton
                label={t("Remove exit condition")}
                onClick={() => change(lines.filter((line) => line.key !== key))}
              />
            </div>
            <ExitField
              key={condition.type}
              projectId={projectId}
              condition={condition}
              path={`exitConditions.${at}`}
              onChange={(changed, isComplete) => put(changed, isComplete, key)}
              error={error}
            />
          </div>
        ))}
      </div>
      {lines.length < LIMITS.exitConditions.value && (
        <Button
          look="quiet"
          className="mt-1.5"
          onClick={() => {
            change([...lines, { key: nextKey, condition: FIRST_EXITS.EVENT, isComplete: false }]);
            setNextKey(nextKey + 1);
          }}
        >
          <Plus size={14} aria-hidden /> {t("Add exit condition")}
        </Button>
      )}
    </fieldset>
  );
}

interface ExitFieldProps {
  projectId: string;
  condition: ExitCondition;
  /** Path of the condition in the body of the call. */
  path: string;
  onChange: (condition: ExitCondition, isComplete: boolean) => void;
  error: unknown;
}

function ExitField({ projectId, condition, path, onChange, error }: ExitFieldProps) {
  switch (condition.type) {
    case "EVENT":
      return (
        <EventField
          projectId={projectId}
          label={t("Event")}
          value={condition.eventName}
          onChange={(eventName) => onChange({ ...condition, eventName }, eventName.trim() !== "")}
          error={problemWith(error, `${path}.eventName`)}
        />
      );
    case "SEGMENT":
      return (
        <SegmentSelect
          projectId={projectId}
          value={condition.segmentId}
          onChange={(segmentId) => onChange({ type: "SEGMENT", segmentId }, segmentId !== "")}
          error={problemWith(error, `${path}.segmentId`)}
        />
      );
    case "FILTER":
      return <ExitFilter {...{ projectId, path, error, onChange }} filter={condition.filter} />;
  }
}

interface ExitFilterProps extends Omit<ExitFieldProps, "condition"> {
  filter: Extract<ExitCondition, { type: "FILTER" }>["filter"];
}

function ExitFilter({ projectId, filter, path, onChange, error }: ExitFilterProps) {
  const fields = useFields(projectId, undefined);
  const [tree, act] = useReducer(changeTree, filter, readTree);
  const [first] = useState(tree);
  useEffect(() => {
    if (tree === first) return;
    const changed = filterOf(tree);
    onChange({ type: "FILTER", filter: changed ?? EMPTY_FILTER }, changed !== null);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only an edit changes the condition
  }, [tree]);
  return (
    <ConditionBuilder tree={tree} fields={fields} error={error} path={`${path}.filter`} onAction={act} />
  );
}
