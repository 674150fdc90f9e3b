// A step as a button with its name, what it does, its live counts and its problems, for the canvas and the outline.
import { StickyNote, TriangleAlert } from "lucide-react";
import { plural, t } from "../../../text/t.ts";
import type { Problem, Step, StepNumbers } from "../workflow-queries.ts";
import { STEP_KINDS, stepName, type AddableType } from "./step-kinds.ts";

interface StepButtonProps {
  step: Step;
  /** The configuration in words. */
  text: string;
  /** Undefined while loading, and if no one was at the step yet. */
  numbers: StepNumbers | undefined;
  problems: readonly Problem[];
  isSelected: boolean;
  /** Whether a trial reached the step; undefined without a trial. */
  isReached?: boolean | undefined;
  onSelect: () => void;
}

/** Steps that a trial doesn't reach keep readable texts, so they are dimmed by their frame and icon. */
const LOOKS = {
  plain: "border-line bg-surface hover:border-line-strong",
  reached: "border-accent bg-surface",
  other: "border-dashed border-line bg-page hover:border-line-strong",
};

export function StepButton(props: StepButtonProps) {
  const { step, text, numbers, problems, isSelected, isReached, onSelect } = props;
  const look = isReached === undefined ? "plain" : isReached ? "reached" : "other";
  const { icon: Icon } = STEP_KINDS[step.type];
  const isOther = look === "other";
  const isBroken = problems.some(({ severity }) => severity === "error");
  return (
    <button
      type="button"
      data-step={step.id}
      aria-pressed={isSelected}
      onClick={onSelect}
      className={`flex size-full flex-col rounded-lg border px-3 py-2.5 text-left transition-colors aria-pressed:border-accent aria-pressed:ring-3 aria-pressed:ring-accent-wash ${LOOKS[look]}`}
    >
      <span className="flex w-full items-center gap-2">
        <Icon size={14} className={`shrink-0 ${isOther ? "text-faint" : "text-accent"}`} aria-hidden />
        <span className={`min-w-0 flex-1 truncate text-sm ${isOther ? "text-soft" : "font-medium"}`}>
          {stepName(step)}
        </span>
        {isReached !== undefined && (
          <span className="sr-only">{isReached ? t("On the path") : t("Not on the path")}</span>
        )}
        {step.note !== null && (
          <span title={step.note} className="shrink-0 text-faint">
            <StickyNote size={14} aria-label={t("Note: {note}", { note: step.note })} />
          </span>
        )}
        {problems.length > 0 && (
          <TriangleAlert
            size={14}
            className={`shrink-0 ${isBroken ? "text-bad" : "text-warn"}`}
            aria-label={plural(problems.length, "{n} problem", "{n} problems")}
          />
        )}
      </span>
      <span className="mt-0.5 line-clamp-2 text-xs wrap-anywhere text-soft">{text}</span>
      <span className="mt-auto flex gap-3 pt-1 text-xs tabular-nums empty:hidden">
        <Counts numbers={numbers} />
      </span>
    </button>
  );
}

/** Shows where a new step will be while it is filled in. */
export function NewStepMark({ type }: { type: AddableType }) {
  const { icon: Icon, name } = STEP_KINDS[type];
  return (
    <div className="flex size-full flex-col rounded-lg border border-dashed border-accent bg-surface px-3 py-2.5 ring-3 ring-accent-wash">
      <span className="flex items-center gap-2 text-sm font-medium">
        <Icon size={14} className="shrink-0 text-accent" aria-hidden /> {name}
      </span>
      <span className="mt-0.5 text-xs text-soft">{t("Not added yet")}</span>
    </div>
  );
}

function Counts({ numbers }: { numbers: StepNumbers | undefined }) {
  if (numbers === undefined) return null;
  const { waiting, passed, failed } = numbers;
  return (
    <>
      {waiting > 0 && <span className="font-medium text-accent">{t("{n} waiting", { n: waiting })}</span>}
      {passed > 0 && <span className="text-soft">{t("{n} passed", { n: passed })}</span>}
      {failed > 0 && <span className="font-medium text-bad">{t("{n} failed", { n: failed })}</span>}
    </>
  );
}
