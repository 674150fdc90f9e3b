// The side panel of the TRIGGER: the workflow's name, what lets contacts in, whether they may enter again, and what makes them leave.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type FormEvent } from "react";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import type { TriggerType } from "@postloft/contract/workflows/graph.ts";
import { call, problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox, Field, Select } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useToast } from "../../../ui/toasts.tsx";
import { isSame } from "../../../ui/typed.ts";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { TRIGGER_NAMES } from "../trigger-text.ts";
import { useEdits } from "../edits/use-edits.tsx";
import { invalidateWorkflows, type Workflow } from "../workflow-queries.ts";
import { PanelFrame } from "./step-panel.tsx";
import { ExitFields } from "./exit-fields.tsx";
import { GoalFields } from "./goal-fields.tsx";
import { FIRST_DATE } from "./date-trigger-fields.tsx";
import { TriggerFields, type TriggerDraft } from "./trigger-fields.tsx";

const AT_INPUTS = [
  "name",
  "triggerConfig.eventName",
  "eventName",
  "triggerConfig.segmentId",
  "triggerConfig.cron",
  "triggerConfig.timezone",
  "triggerConfig.dateField",
  "triggerConfig.amount",
  "triggerConfig.unit",
  "triggerConfig.until",
  "exitConditions.",
  "goal.eventName",
  "goal.days",
];

function draftOf(workflow: Workflow): TriggerDraft {
  const { name, triggerType, triggerConfig, allowReentry } = workflow;
  const exitConditions = workflow.exitConditions as ExitCondition[];
  const goal = workflow.goal as Goal | null;
  return { name, triggerType, triggerConfig, allowReentry, exitConditions, goal, isComplete: true };
}

/** Returns the changed fields. Without a change of the trigger an unfinished one stays as it is. */
function changesOf(before: TriggerDraft, draft: TriggerDraft) {
  const { name, triggerType, triggerConfig, allowReentry, exitConditions, goal } = draft;
  const isSameTrigger = before.triggerType === triggerType && isSame(before.triggerConfig, triggerConfig);
  return {
    ...(name === before.name ? {} : { name }),
    ...(allowReentry === before.allowReentry ? {} : { allowReentry }),
    ...(isSame(exitConditions, before.exitConditions) ? {} : { exitConditions }),
    ...(isSame(goal, before.goal) ? {} : { goal }),
    ...(isSameTrigger ? {} : { triggerType, triggerConfig: { ...triggerConfig } }),
  };
}

function isWhole({ name, goal, isComplete }: TriggerDraft): boolean {
  const hasGoal = goal === null || (goal.eventName.trim() !== "" && !Number.isNaN(goal.days));
  return name.trim() !== "" && isComplete && hasGoal;
}

/** Returns a newly chosen type with its first config, or with the saved one. */
function typeOf(triggerType: TriggerType, saved: Workflow) {
  const first = triggerType === "DATE" ? FIRST_DATE : {};
  return { triggerType, triggerConfig: triggerType === saved.triggerType ? saved.triggerConfig : first };
}

interface TriggerPanelProps {
  projectId: string;
  workflow: Workflow;
  onClose: () => void;
}

/** Holds and saves the edits of the trigger. */
function useTriggerDraft(projectId: string, workflow: Workflow) {
  const [base, setBase] = useState(workflow);
  const [draft, setDraft] = useState(() => draftOf(workflow));
  const queries = useQueryClient();
  const edits = useEdits();
  const toast = useToast();
  const take = (saved: Workflow) => {
    setBase(saved);
    setDraft(draftOf(saved));
  };
  const saving = useMutation({
    mutationFn: () =>
      call(api.workflows.update, {
        projectId,
        params: { id: workflow.id },
        body: { ...changesOf(draftOf(base), draft), expectedUpdatedAt: workflow.updatedAt },
      }),
    onMutate: edits.begin,
    onSuccess: async (saved, _nothing, before) => {
      take(saved);
      toast(t("Trigger saved"));
      await edits.end({ kind: "exits", name: "" }, before);
    },
    onError: () => invalidateWorkflows(queries, projectId),
  });
  const isChanged = !isSame(draft, draftOf(base));
  // A workflow read after the panel opened may have another trigger. Changed steps are no conflict.
  const isStale =
    !saving.isPending && !isSame(draftOf(workflow), draftOf(base)) && workflow.updatedAt > base.updatedAt;
  useLeaveWarning(isChanged);
  useEffect(() => {
    if (isStale && !isChanged) take(workflow);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a trigger that was changed elsewhere or undone replaces the shown one
  }, [isStale]);
  return { base, draft, setDraft, saving, isChanged, isStale, take };
}

export function TriggerPanel({ projectId, workflow, onClose }: TriggerPanelProps) {
  const { base, draft, setDraft, saving, isChanged, isStale, take } = useTriggerDraft(projectId, workflow);
  const { error } = saving;
  const change = (changed: Partial<TriggerDraft>) => setDraft({ ...draft, ...changed });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <PanelFrame title={t("Trigger")} onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {saving.isError && <Failure error={error} atInputs={AT_INPUTS} />}
        {isStale && <StaleNotice onDiscard={() => take(workflow)} />}
        <Field
          label={t("Workflow name")}
          value={draft.name}
          onChange={({ target }) => change({ name: target.value })}
          error={problemWith(error, "name")}
        />
        <Select
          label={t("Starts when")}
          options={(Object.keys(TRIGGER_NAMES) as TriggerType[]).map((value) => ({
            value,
            label: TRIGGER_NAMES[value],
          }))}
          value={draft.triggerType}
          onChange={({ target }) => change(typeOf(target.value as TriggerType, base))}
        />
        <TriggerFields
          projectId={projectId}
          draft={draft}
          onChange={(triggerConfig) => change({ triggerConfig })}
          error={error}
        />
        <Checkbox
          label={t("Allow re-entry")}
          help={t("Contacts can enter again after they have left.")}
          checked={draft.allowReentry}
          onChange={({ target }) => change({ allowReentry: target.checked })}
        />
        <ExitFields
          key={base.updatedAt}
          projectId={projectId}
          conditions={draft.exitConditions}
          onChange={(exitConditions, isComplete) => change({ exitConditions, isComplete })}
          error={error}
        />
        <GoalFields
          projectId={projectId}
          goal={draft.goal}
          onChange={(goal) => change({ goal })}
          error={error}
        />
        <SaveButton
          isChanged={isChanged}
          busy={saving.isPending}
          disabled={!isChanged || isStale || !isWhole(draft)}
        />
      </form>
    </PanelFrame>
  );
}

function StaleNotice({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div role="alert" className="rounded-md border border-line bg-warn-wash px-3.5 py-2.5 text-sm">
      <p className="mb-2 font-medium text-warn">{t("Someone else changed this trigger.")}</p>
      <Button onClick={onDiscard}>{t("Discard my changes")}</Button>
    </div>
  );
}

function SaveButton({ isChanged, busy, disabled }: { isChanged: boolean; busy: boolean; disabled: boolean }) {
  return (
    <div className="flex justify-end">
      <Button look="primary" type="submit" busy={busy} disabled={disabled}>
        {isChanged ? t("Save") : t("Saved")}
      </Button>
    </div>
  );
}
