// A step on the canvas of one execution: a button that opens its last run, or a frame if the execution never reached it.
import { STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import { plural, t } from "../../../text/t.ts";
import type { Step } from "../workflow-queries.ts";
import { RUN_STATUSES, type Execution } from "./execution-status.ts";

interface RunStepProps {
  step: Step;
  /** The configuration in words. */
  text: string;
  /** The runs of the step, in order. */
  runs: ReadonlyArray<Execution["steps"][number]>;
  isOpen: boolean;
  onOpen: () => void;
}

const FRAME = "flex size-full flex-col rounded-lg border px-3 py-2.5 text-left";
const LOOKS = {
  FAILED: "border-bad bg-bad-wash",
  passed: "border-accent bg-surface",
};

const TONES: Partial<Record<Execution["steps"][number]["status"], string>> = {
  FAILED: "text-bad",
  SKIPPED: "text-warn",
  WAITING: "text-accent",
  RUNNING: "text-accent",
};

export function RunStep({ step, text, runs, isOpen, onOpen }: RunStepProps) {
  const last = runs.at(-1);
  if (last === undefined)
    return (
      <div data-step={step.id} className={`${FRAME} border-dashed border-line bg-page`}>
        <Name step={step} isReached={false} />
        <Text text={text} />
      </div>
    );
  return (
    <button
      type="button"
      data-step={step.id}
      aria-pressed={isOpen}
      onClick={onOpen}
      className={`${FRAME} transition-colors aria-pressed:ring-3 aria-pressed:ring-accent-wash ${last.status === "FAILED" ? LOOKS.FAILED : LOOKS.passed}`}
    >
      <Name step={step} isReached />
      <Text text={text} />
      <span className="mt-auto flex items-center gap-2 pt-1 text-xs">
        <span className={`font-medium ${TONES[last.status] ?? "text-soft"}`}>
          {RUN_STATUSES[last.status].label}
        </span>
        {runs.length > 1 && (
          <span className="text-soft tabular-nums">{plural(runs.length, "{n} time", "{n} times")}</span>
        )}
      </span>
    </button>
  );
}

function Name({ step, isReached }: { step: Step; isReached: boolean }) {
  const { icon: Icon } = STEP_KINDS[step.type];
  return (
    <span className="flex w-full items-center gap-2">
      <Icon size={14} className={`shrink-0 ${isReached ? "text-accent" : "text-faint"}`} aria-hidden />
      <span className={`min-w-0 flex-1 truncate text-sm ${isReached ? "font-medium" : "text-soft"}`}>
        {stepName(step)}
      </span>
      <span className="sr-only">{isReached ? t("On the path") : t("Not on the path")}</span>
    </span>
  );
}

function Text({ text }: { text: string }) {
  return <span className="mt-0.5 line-clamp-2 text-xs wrap-anywhere text-soft">{text}</span>;
}
