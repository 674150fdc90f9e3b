// The side panel of a step: its name, its configuration, what happened in it, and its deletion.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronDown, X } from "lucide-react";
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { call, isChangedMeanwhile, problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { Field, TextArea } from "../../../ui/field.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Card } from "../../../ui/page.tsx";
import { Failure } from "../../../ui/states.tsx";
import { isSame } from "../../../ui/typed.ts";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import type { Way } from "../canvas/plan.ts";
import { useEdits } from "../edits/use-edits.tsx";
import { startEventOf } from "../start-event.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { ConfigFields } from "./config-fields.tsx";
import { AT_INPUTS, FIRST_CONFIGS, type Config } from "./step-config.ts";
import { STEP_KINDS, stepName, type AddableType } from "./step-kinds.ts";
import { useStepEdit } from "./use-step-edit.ts";

interface FrameProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A panel that takes the focus when it opens. */
export function PanelFrame({ title, onClose, children }: FrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <Card className="p-4 sm:p-5">
      <div className="mb-4 flex items-start justify-between gap-2">
        <h2
          ref={heading}
          tabIndex={-1}
          className="min-w-0 text-base font-semibold wrap-anywhere outline-none"
        >
          {title}
        </h2>
        <button
          type="button"
          aria-label={t("Close")}
          title={t("Close")}
          onClick={onClose}
          className="-mt-1 grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
        >
          <X size={15} aria-hidden />
        </button>
      </div>
      {children}
    </Card>
  );
}

interface StepPanelProps {
  projectId: string;
  workflow: Workflow;
  step: Step & { type: AddableType };
  /** Copies the step, also with the steps after it. */
  onCopy: (withNext: boolean) => void;
  onClose: () => void;
}

export function StepPanel({ projectId, workflow, step, onCopy, onClose }: StepPanelProps) {
  const edit = useStepEdit(projectId, step);
  const { base, name, config, taken, isChanged, saving } = edit;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    edit.save();
  };
  return (
    <PanelFrame title={stepName(base)} onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {saving.isError && (
          <Failure error={saving.error} atInputs={["name", "note", ...AT_INPUTS[step.type]]} />
        )}
        {isChangedMeanwhile(saving.error) && (
          <Button onClick={() => edit.take(step)}>{t("Discard my changes")}</Button>
        )}
        <Field
          label={t("Name")}
          value={name}
          onChange={({ target }) => edit.setName(target.value)}
          error={problemWith(saving.error, "name")}
        />
        <ConfigFields
          key={taken}
          type={step.type}
          projectId={projectId}
          startEvent={startEventOf(workflow)}
          config={config ?? base.config}
          onChange={edit.change}
          error={saving.error}
        />
        <TextArea
          label={t("Note")}
          help={t("Only people of this project see it.")}
          rows={2}
          value={edit.note}
          onChange={({ target }) => edit.setNote(target.value)}
          error={problemWith(saving.error, "note")}
        />
        <p className="text-sm text-faint">{t("People already inside keep the steps they started with.")}</p>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span className="-ml-3 flex flex-wrap">
            <DeleteButton projectId={projectId} workflow={workflow} step={base} onDeleted={onClose} />
            <CopyMenu onCopy={onCopy} />
          </span>
          <Button
            look="primary"
            type="submit"
            busy={saving.isPending}
            disabled={!isChanged || config === null || name.trim() === ""}
          >
            {isChanged ? t("Save") : t("Saved")}
          </Button>
        </div>
      </form>
      <Link
        to="/$projectId/workflows/$workflowId"
        params={{ projectId, workflowId: workflow.id }}
        search={{ tab: "executions", at: step.id }}
        className="mt-3.5 inline-block py-0.5 text-sm text-accent hover:underline"
      >
        {t("Executions at this step")}
      </Link>
    </PanelFrame>
  );
}

function CopyMenu({ onCopy }: Pick<StepPanelProps, "onCopy">) {
  return (
    <Menu
      label={t("Copy")}
      className={buttonClass("quiet")}
      button={
        <>
          {t("Copy")} <ChevronDown size={14} aria-hidden />
        </>
      }
    >
      <MenuItem onSelect={() => onCopy(false)}>{t("Copy step")}</MenuItem>
      <MenuItem onSelect={() => onCopy(true)}>{t("Copy with all steps after it")}</MenuItem>
    </Menu>
  );
}

interface DeleteButtonProps {
  projectId: string;
  workflow: Workflow;
  step: Step;
  onDeleted: () => void;
}

/** Deletes a step and connects the steps around it, unless its branches lead to different steps. */
function DeleteButton({ projectId, workflow, step, onDeleted }: DeleteButtonProps) {
  const edits = useEdits();
  const [isAsking, setAsking] = useState(false);
  const { id: stepId, outgoingTransitions: out } = step;
  const isSplit = new Set(out.map(({ toStepId }) => toStepId)).size > 1;
  const deleting = useMutation({
    mutationFn: () =>
      call(api.workflows.deleteStep, {
        projectId,
        params: { id: workflow.id, stepId },
        query: isSplit ? {} : { splice: "true" },
      }),
    onMutate: edits.begin,
    onSuccess: async (_result, _nothing, before) => {
      onDeleted();
      await edits.end({ kind: "delete", name: stepName(step) }, before);
    },
  });
  return (
    <>
      <Button look="quiet" onClick={() => setAsking(true)}>
        {t("Delete step")}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t("Delete “{name}”?", { name: stepName(step) })}
          description={
            isSplit
              ? t("The steps after it stay, but no path leads to them until you connect them again.")
              : t("The step before it leads to the next one.")
          }
          action={t("Delete step")}
          doing={{ ...deleting, mutate: () => deleting.mutate() }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface NewStepPanelProps {
  projectId: string;
  workflow: Workflow;
  type: AddableType;
  /** The way that leads to the new step. */
  way: Way;
  onAdded: (id: string) => void;
  /** Discards the step without a question. */
  onCancel: () => void;
  onClose: () => void;
}

export function NewStepPanel(props: NewStepPanelProps) {
  const { projectId, workflow, type, way, onAdded, onCancel, onClose } = props;
  const edits = useEdits();
  const [name, setName] = useState(STEP_KINDS[type].name);
  const [config, setConfig] = useState<Config | null>(FIRST_CONFIGS[type]);
  useLeaveWarning(name !== STEP_KINDS[type].name || !isSame(config, FIRST_CONFIGS[type]));
  const from = workflow.steps.find(({ id }) => id === way.fromStepId);
  const adding = useMutation({
    mutationFn: (written: Config) => addStep(projectId, workflow.id, way, { type, name, config: written }),
    onMutate: edits.begin,
    onSuccess: (added, _config, before) => edits.end({ kind: "add", name: stepName(added) }, before),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (config === null) return;
    // Not called once the panel is closed, because the user may be typing elsewhere by then.
    adding.mutate(config, { onSuccess: ({ id }) => onAdded(id) });
  };
  return (
    <PanelFrame title={t("New step: {name}", { name: STEP_KINDS[type].name })} onClose={onClose}>
      {from !== undefined && (
        <p className="-mt-2 mb-4 text-sm text-soft">{t("After “{step}”", { step: stepName(from) })}</p>
      )}
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {adding.isError && <Failure error={adding.error} atInputs={["name", ...AT_INPUTS[type]]} />}
        <Field
          label={t("Name")}
          value={name}
          onChange={({ target }) => setName(target.value)}
          error={problemWith(adding.error, "name")}
        />
        <ConfigFields
          type={type}
          projectId={projectId}
          startEvent={startEventOf(workflow)}
          config={config ?? FIRST_CONFIGS[type]}
          onChange={(changed) => setConfig(changed)}
          error={adding.error}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onCancel}>
            {t("Cancel")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={adding.isPending}
            disabled={config === null || name.trim() === ""}
          >
            {t("Add step")}
          </Button>
        </div>
      </form>
    </PanelFrame>
  );
}

/** Inserts the step into the transition of the way, or continues an open way with it. */
function addStep(
  projectId: string,
  id: string,
  { transitionId, fromStepId, branch }: Way,
  { type, name, config }: { type: AddableType; name: string; config: Config },
) {
  if (transitionId === null)
    return call(api.workflows.addStep, {
      projectId,
      params: { id },
      body: { type, name, config: { ...config }, fromStepId, branch },
    });
  if (type === "EXIT") throw new Error("An EXIT has no next step, so it is only offered for open ways.");
  return call(api.workflows.insertStep, {
    projectId,
    params: { id, transitionId },
    body: { type, name, config: { ...config } },
  });
}
