// The steps of a workflow as a canvas or an outline, with the panel of the selected step.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { Skeleton } from "../../../ui/states.tsx";
import { formatNumber, formatShare } from "../../../ui/format.ts";
import { planOf, type Plan, type Way } from "../canvas/plan.ts";
import { NEW_STEP, planWithNewStep } from "../canvas/new-step.ts";
import { useCopying } from "../copy/use-copying.ts";
import { UndoButtons } from "../edits/undo-buttons.tsx";
import { readWorkflowSearch, type WorkflowSearch } from "../search.ts";
import { lastTried, rememberTried } from "../try/last-contact.ts";
import { pathOf } from "../try/trial-path.ts";
import { TryPanel } from "../try/try-panel.tsx";
import { useTrial } from "../try/use-trial.ts";
import { stepNumbersQuery, type Step, type Workflow, type WorkflowNumbers } from "../workflow-queries.ts";
import { Outline } from "./outline.tsx";
import { NewStepMark, StepButton } from "./step-button.tsx";
import { stepName, wayName, type AddableType } from "./step-kinds.ts";
import { NewStepPanel, StepPanel } from "./step-panel.tsx";
import { stepText } from "./step-text.ts";
import { TriggerPanel } from "./trigger-panel.tsx";
import { useIsWide } from "./use-is-wide.ts";
import { useNames } from "./use-names.ts";
import { WayMenu } from "./way-menu.tsx";

const Canvas = lazy(async () => ({ default: (await import("../canvas/canvas.tsx")).Canvas }));
const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId");
const POLL_EVERY_MS = 10_000;

/** The value of `try` before a contact is chosen. */
const NO_CONTACT = "contact";

interface StepsViewProps {
  projectId: string;
  workflow: Workflow;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function StepsView({ projectId, workflow }: StepsViewProps) {
  const { step: selectedId, add, into, view, try: tried } = route.useSearch();
  const navigate = route.useNavigate();
  const isWide = useIsWide();
  const plan = useMemo(() => planOf(workflow.steps, workflow.transitions), [workflow]);
  const ways = useMemo(() => new Map([...plan.ways.values()].flat().map((way) => [way.key, way])), [plan]);
  const { adding, shownPlan } = useNewStep({ workflow, plan, ways, add, into });
  const names = useNames(projectId, workflow);
  const numbers = useQuery({ ...stepNumbersQuery(projectId, workflow.id), refetchInterval: POLL_EVERY_MS });
  const steps = new Map(workflow.steps.map((step) => [step.id, step]));
  const selected = steps.get(selectedId ?? "");
  const tryButton = useRef<HTMLButtonElement>(null);
  const isTrying = tried !== undefined && selected === undefined && adding === null;
  const contactId = isTrying && tried !== NO_CONTACT ? tried : null;
  const trial = useTrial(projectId, workflow, contactId);
  const runs = contactId === null ? undefined : trial.result.data?.steps;
  const path = useMemo(() => (runs === undefined ? undefined : pathOf(runs, plan)), [runs, plan]);
  /** Opens another panel, after a question if the open one has unsaved changes. */
  const open = (panel: Pick<WorkflowSearch, "step" | "add" | "into" | "try">, isSettled = false) =>
    navigate({
      search: ({ tab, view: shown }) => readWorkflowSearch({ tab, view: shown, ...panel }),
      resetScroll: false,
      // Back must not return to a form that is done.
      ...(isSettled ? { ignoreBlocker: true, replace: true } : {}),
    });
  const select = (id: string) => open({ step: id });
  const copying = useCopying({
    projectId,
    workflow,
    plan,
    selectedId,
    templates: names?.templates ?? new Map(),
    onPasted: (id) => void select(id),
  });
  const tryWith = (id: string) => {
    if (id !== NO_CONTACT) rememberTried(projectId, id);
    void open({ try: id });
  };
  const close = async (isSettled = false) => {
    if (isTrying) {
      await open({});
      tryButton.current?.focus();
      return;
    }
    const from = adding?.way.fromStepId ?? selectedId;
    await open({}, isSettled);
    document.querySelector<HTMLElement>(`[data-step="${from}"]`)?.focus();
  };
  const nameOf = (id: string) => {
    const step = steps.get(id);
    return step === undefined ? "" : stepName(step);
  };
  const renderStep = (id: string) => {
    if (id === NEW_STEP && adding !== null) return <NewStepMark type={adding.type} />;
    const step = steps.get(id);
    if (step === undefined || names === null) return null;
    return (
      <StepButton
        step={step}
        text={stepText(step, workflow, names)}
        numbers={numbers.data?.steps.find(({ stepId }) => stepId === id)}
        problems={workflow.problems.filter(({ stepId }) => stepId === id)}
        isSelected={id === selectedId && adding === null}
        isReached={path?.stepIds.has(id)}
        onSelect={() => void select(id)}
      />
    );
  };
  /** The ways around a new step exist only in its preview. */
  const storedWay = (shown: Way) => ways.get(shown.key) ?? shown;
  const labelOf = ({ fromStepId, branch }: Way) => {
    const step = steps.get(fromStepId);
    return step === undefined ? null : wayName(step, branch);
  };
  const renderWay = (way: Way) =>
    way.fromStepId !== NEW_STEP && (
      <WayMenu
        way={storedWay(way)}
        from={nameOf(way.fromStepId)}
        name={labelOf(way)}
        onAdd={(type) => void open({ add: type, into: way.key })}
        copied={copying.copied}
        onPaste={() => copying.pasteInto(storedWay(way))}
      />
    );
  // Without names and counts the steps would change right after they appear.
  if (names === null || numbers.isPending) return <Skeleton className="h-96" />;
  const isOutline = view === "outline" || !isWide;
  const isPanelOpen = adding !== null || selected !== undefined || isTrying;
  const shared = { plan: shownPlan, takenWays: path?.wayKeys, renderStep, renderWay };
  return (
    <div className={isPanelOpen ? "grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_23rem]" : ""}>
      <div className={isPanelOpen ? "min-w-0 max-lg:hidden lg:sticky lg:top-4" : "min-w-0"}>
        {numbers.data?.goal != null && <GoalLine goal={numbers.data.goal} />}
        <div className="mb-3 flex flex-wrap items-center gap-2">
          {isWide && <ViewChoice isOutline={isOutline} />}
          <UndoButtons />
          <Button
            ref={tryButton}
            aria-pressed={isTrying}
            className="ml-auto aria-pressed:bg-press"
            onClick={() => (isTrying ? void close() : tryWith(lastTried(projectId) ?? NO_CONTACT))}
          >
            <FlaskConical size={14} aria-hidden /> {t("Try it")}
          </Button>
        </div>
        {isOutline ? (
          <Outline nameOf={nameOf} labelOf={labelOf} {...shared} />
        ) : (
          <div className="h-[max(28rem,calc(100dvh-17rem))] overflow-hidden rounded-lg border border-line bg-page">
            <Suspense fallback={<Skeleton className="size-full" />}>
              <Canvas selectedId={adding === null ? selectedId : NEW_STEP} {...shared} />
            </Suspense>
          </div>
        )}
      </div>
      {adding !== null ? (
        <NewStepPanel
          key={`${adding.way.key} ${adding.type}`}
          projectId={projectId}
          workflow={workflow}
          {...adding}
          onAdded={(id) => void open({ step: id }, true)}
          onCancel={() => void close(true)}
          onClose={() => void close()}
        />
      ) : (
        selected !== undefined && (
          <SelectedPanel
            key={selected.id}
            projectId={projectId}
            workflow={workflow}
            step={selected}
            onCopy={(withNext) => void copying.copy(selected, { withNext })}
            onClose={() => void close()}
          />
        )
      )}
      {isTrying && (
        <TryPanel
          projectId={projectId}
          workflow={workflow}
          names={names}
          trial={trial}
          contactId={contactId}
          onChoose={({ id }) => tryWith(id)}
          onClose={() => void close()}
        />
      )}
    </div>
  );
}

interface NewStepProps {
  workflow: Workflow;
  plan: Plan;
  /** The ways of the plan by key. */
  ways: ReadonlyMap<string, Way>;
  add: AddableType | undefined;
  into: string | undefined;
}

/** Returns the new step that the URL names, and the plan with its place. */
function useNewStep({ workflow, plan, ways, add, into }: NewStepProps) {
  const found = useMemo(() => {
    const way = ways.get(into ?? "");
    const isOffered = way !== undefined && !way.isImplied && (add !== "EXIT" || way.transitionId === null);
    return add !== undefined && isOffered ? { type: add, way } : null;
  }, [ways, add, into]);
  const [last, setLast] = useState(found);
  if (found !== null && found !== last) setLast(found);
  const shownPlan = useMemo(
    () => (found === null ? plan : planWithNewStep(workflow, found)),
    [plan, workflow, found],
  );
  // The form stays if its way was removed meanwhile, because nothing typed may be lost. Saving then says what is wrong.
  const isLast = last !== null && last.type === add && last.way.key === into;
  return { adding: found ?? (isLast ? last : null), shownPlan };
}

function GoalLine({ goal }: { goal: NonNullable<WorkflowNumbers["goal"]> }) {
  const { executions, reached, goalRate } = goal;
  return (
    <p className="mb-3 text-sm text-soft">
      {goalRate === null
        ? t("Goal: no one has entered yet")
        : t("Goal: {share} ({reached} of {executions})", {
            share: formatShare(goalRate),
            reached: formatNumber(reached),
            executions: formatNumber(executions),
          })}
    </p>
  );
}

function ViewChoice({ isOutline }: { isOutline: boolean }) {
  const navigate = route.useNavigate();
  return (
    <Choices
      label={t("View")}
      options={[
        { value: "canvas", label: t("Canvas") },
        { value: "outline", label: t("Outline") },
      ]}
      value={isOutline ? "outline" : "canvas"}
      onChoose={(view) =>
        void navigate({
          search: (old) => readWorkflowSearch({ ...old, view }),
          replace: true,
          resetScroll: false,
          // The open panel stays, with all that is typed.
          ignoreBlocker: true,
        })
      }
    />
  );
}

interface SelectedPanelProps extends StepsViewProps {
  step: Step;
  onCopy: (withNext: boolean) => void;
  onClose: () => void;
}

function SelectedPanel({ step, onCopy, ...shared }: SelectedPanelProps) {
  const { type } = step;
  if (type === "TRIGGER") return <TriggerPanel {...shared} />;
  return <StepPanel step={{ ...step, type }} onCopy={onCopy} {...shared} />;
}
