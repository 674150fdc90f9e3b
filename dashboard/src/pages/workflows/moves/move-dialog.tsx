// Asks where people on earlier versions of a workflow continue, step by step.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, CallError } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Checkbox, Select } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/states.tsx";
import { stepName } from "../steps/step-kinds.ts";
import { workflowQuery } from "../workflow-queries.ts";
import { byStep, changeTexts, type Preview, type StepGroup } from "./move-texts.ts";

interface MoveDialogProps {
  projectId: string;
  workflowId: string;
  preview: Preview;
  onStarted: (jobId: string) => void;
  onClose: () => void;
}

export function MoveDialog({ projectId, workflowId, preview, onStarted, onClose }: MoveDialogProps) {
  const [choices, setChoices] = useState<Readonly<Record<string, string>>>({});
  const [applyDelays, setApplyDelays] = useState(false);
  const workflow = useQuery(workflowQuery(projectId, workflowId));
  const groups = byStep(preview.groups);
  const steps = (workflow.data?.steps ?? []).map((step) => ({ value: step.id, label: stepName(step) }));
  const isMissing = ({ step, target }: StepGroup) => target === null && (choices[step.id] ?? "") === "";
  const hasDelays = groups.some(({ changes }) => changes.has("delay"));
  const moving = useMutation({
    mutationFn: () => {
      const body = { steps: { ...choices }, applyDelays, expectedUpdatedAt: preview.updatedAt };
      return call(api.workflows.move, { projectId, params: { id: workflowId }, body });
    },
    onSuccess: ({ jobId }) => onStarted(jobId),
  });
  const isOutdated = moving.error instanceof CallError && moving.error.code === "CHANGED_MEANWHILE";
  return (
    <Dialog
      title={plural(preview.total, "Move {n} person to this version", "Move {n} people to this version")}
      description={t(
        "They stay at their step, and no email is sent twice. You can undo it until they continue.",
      )}
      open
      onClose={onClose}
    >
      {moving.isError && !isOutdated && <Failure error={moving.error} />}
      {isOutdated && (
        <p role="alert" className="text-sm text-bad">
          {t("The workflow was edited in the meantime. Close this dialog and open it again.")}
        </p>
      )}
      <ul className="flex flex-col gap-4">
        {groups.map((group) => (
          <li key={group.step.id}>
            <GroupChoice
              group={group}
              steps={steps}
              value={choices[group.step.id] ?? group.target?.id ?? ""}
              onChoose={(choice) => setChoices({ ...choices, [group.step.id]: choice })}
            />
          </li>
        ))}
      </ul>
      {hasDelays && (
        <div className="mt-4 text-sm">
          <Checkbox
            label={t("Apply changed delays to people who wait")}
            help={t("Counted from when they began to wait. If that time is over, they continue immediately.")}
            checked={applyDelays}
            onChange={({ target }) => setApplyDelays(target.checked)}
          />
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={moving.isPending}
          disabled={groups.some(isMissing)}
          onClick={() => moving.mutate()}
        >
          {t("Move people")}
        </Button>
      </div>
    </Dialog>
  );
}

interface GroupChoiceProps {
  group: StepGroup;
  /** The steps of this version. */
  steps: ReadonlyArray<{ value: string; label: string }>;
  value: string;
  onChoose: (choice: string) => void;
}

function GroupChoice({ group, steps, value, onChoose }: GroupChoiceProps) {
  const { step, target, count, versions, next } = group;
  const where = plural(count, "{n} person at “{step}”", "{n} people at “{step}”", { step: stepName(step) });
  const then = next.flatMap((one) => (one.step === null ? [] : [stepName(one.step)]));
  const notes = [
    t("On version {versions}.", { versions: versions.join(", ") }),
    ...(target === null ? [t("This version doesn't have the step.")] : changeTexts(group)),
    ...(then.length === 0 || value !== target?.id ? [] : [t("Then: {steps}.", { steps: then.join(", ") })]),
  ];
  return (
    <Select
      label={where}
      help={notes.join(" ")}
      options={[
        ...(target === null ? [{ value: "", label: t("Choose…") }] : []),
        ...steps.map((one) =>
          one.value === target?.id
            ? { ...one, label: t("Stay at “{step}”", { step: one.label }) }
            : { ...one, label: t("Continue at “{step}”", { step: one.label }) },
        ),
        { value: "stay", label: t("Stay on their version") },
        { value: "exit", label: t("Leave the workflow") },
      ]}
      value={value}
      onChange={({ target: select }) => onChoose(select.value)}
    />
  );
}
