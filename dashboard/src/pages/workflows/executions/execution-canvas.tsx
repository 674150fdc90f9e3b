// Draws an execution on the canvas of the version it ran: passed steps and ways, and the step at which it is or failed.
import { CornerUpLeft } from "lucide-react";
import { lazy, Suspense, useMemo } from "react";
import { t } from "../../../text/t.ts";
import { Skeleton } from "../../../ui/states.tsx";
import { planOf, type Way } from "../canvas/plan.ts";
import { wayName } from "../steps/step-kinds.ts";
import { stepText, type Names } from "../steps/step-text.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { executionPath } from "./execution-path.ts";
import type { Execution } from "./execution-status.ts";
import { RunStep } from "./run-step.tsx";

const Canvas = lazy(async () => ({ default: (await import("../canvas/canvas.tsx")).Canvas }));

export interface VersionGraph {
  steps: readonly Step[];
  transitions: Workflow["transitions"];
}

interface ExecutionCanvasProps {
  execution: Execution;
  graph: VersionGraph;
  workflow: Workflow;
  names: Names;
  /** The index of the open run, or null. */
  open: number | null;
  onOpen: (place: number) => void;
}

export function ExecutionCanvas({ execution, graph, workflow, names, open, onOpen }: ExecutionCanvasProps) {
  const runs = execution.steps;
  const plan = useMemo(() => planOf(graph.steps, graph.transitions), [graph]);
  const path = useMemo(() => executionPath(runs, plan), [runs, plan]);
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  const openId = open === null ? undefined : runs[open]?.stepId;
  const renderStep = (id: string) => {
    const step = steps.get(id);
    if (step === undefined) return null;
    return (
      <RunStep
        step={step}
        text={stepText(step, workflow, names)}
        runs={runs.filter(({ stepId }) => stepId === id)}
        isOpen={id === openId}
        onOpen={() => onOpen(runs.findLastIndex(({ stepId }) => stepId === id))}
      />
    );
  };
  const renderWay = (way: Way) => {
    const step = steps.get(way.fromStepId);
    return <WayLabel way={way} name={step === undefined ? null : wayName(step, way.branch)} />;
  };
  return (
    <div className="h-[max(28rem,calc(100dvh-17rem))] overflow-hidden rounded-lg border border-line bg-page">
      <Suspense fallback={<Skeleton className="size-full" />}>
        <Canvas
          plan={plan}
          selectedId={openId ?? execution.currentStepId ?? undefined}
          takenWays={path.wayKeys}
          renderStep={renderStep}
          renderWay={renderWay}
        />
      </Suspense>
    </div>
  );
}

function WayLabel({ way, name }: { way: Way; name: string | null }) {
  const { kind, isImplied } = way;
  const text = name ?? (isImplied ? t("Starts here") : kind === "open" ? t("End of the path") : null);
  if (text === null && kind !== "loop") return null;
  return (
    <span className="inline-flex items-center gap-1 rounded-full border border-line bg-surface px-2 py-0.5 text-xs text-soft">
      {text !== null && (
        <span title={text} className="max-w-27 truncate font-medium">
          {text}
        </span>
      )}
      {kind === "loop" && <CornerUpLeft size={13} aria-label={t("Goes back")} />}
    </span>
  );
}
