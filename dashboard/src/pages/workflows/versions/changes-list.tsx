// Shows the changes between two versions of a workflow, step by step, each with its old and new values.
import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { useId } from "react";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Badge, type Tone } from "../../../ui/page.tsx";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import { useNames } from "../steps/use-names.ts";
import type { Workflow } from "../workflow-queries.ts";
import { settingChangesOf, stepChangesOf, wayChangesOf, type Line, type StepChange } from "./changes.ts";

const KINDS: Record<StepChange["kind"], { tone: Tone; label: string }> = {
  added: { tone: "good", label: t("Added") },
  changed: { tone: "neutral", label: t("Changed") },
  removed: { tone: "bad", label: t("Removed") },
};

interface ChangesListProps {
  projectId: string;
  workflow: Workflow;
  from: number;
  to: number;
}

export function ChangesList({ projectId, workflow, from, to }: ChangesListProps) {
  const params = { id: workflow.id, version: String(from) };
  // The current version changes without a new number until an execution starts on it.
  const compared = useQuery(
    query(
      api.workflows.compareVersions,
      { projectId, params, query: { with: String(to) } },
      workflow.revision,
    ),
  );
  const before = useQuery(query(api.workflows.getVersion, { projectId, params }, workflow.revision));
  const names = useNames(projectId, workflow);
  const failure = compared.error ?? before.error;
  if (failure !== null) return <Failure error={failure} onRetry={() => void compared.refetch()} />;
  if (compared.data === undefined || before.data === undefined || names === null)
    return <Skeleton className="h-40" />;
  const { steps } = compared.data;
  const all = [...before.data.steps, ...steps.added, ...steps.changed.map(({ after }) => after)];
  const byId = new Map(all.map((step) => [step.id, step]));
  const changes = stepChangesOf(compared.data, { names, workflow });
  const removed = new Set(steps.removed.map(({ id }) => id));
  const ways = wayChangesOf(compared.data, byId, (id) => removed.has(id));
  const settings = settingChangesOf(compared.data, names);
  if (changes.length + ways.length + settings.length === 0)
    return <p className="text-sm text-soft">{t("These versions do the same.")}</p>;
  return (
    <div className="flex flex-col gap-5 text-sm">
      {changes.length > 0 && (
        <ul aria-label={t("Changed steps")} className="flex flex-col gap-4">
          {changes.map((change) => (
            <li key={`${change.kind} ${change.step.id}`}>
              <StepLine change={change} />
            </li>
          ))}
        </ul>
      )}
      <Section title={t("Paths")} lines={ways} />
      <Section title={t("Workflow settings")} lines={settings} />
    </div>
  );
}

function StepLine({ change: { kind, step, text, lines } }: { change: StepChange }) {
  const { icon: Icon } = STEP_KINDS[step.type];
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Icon size={14} className="shrink-0 text-accent" aria-hidden />
        <span className="min-w-0 font-medium wrap-anywhere">{stepName(step)}</span>
        <Badge tone={KINDS[kind].tone}>{KINDS[kind].label}</Badge>
      </p>
      {text !== null && <p className="mt-0.5 wrap-anywhere text-soft">{text}</p>}
      <Lines lines={lines} />
    </>
  );
}

function Section({ title, lines }: { title: string; lines: readonly Line[] }) {
  const id = useId();
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h3 id={id} className="font-medium">
        {title}
      </h3>
      <Lines lines={lines} />
    </section>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <dl className="flex flex-col gap-1.5 empty:hidden">
      {lines.map(({ label, before, after }, index) => (
        <div key={index} className="mt-1">
          <dt className="text-xs text-soft">{label}</dt>
          <dd className="wrap-anywhere">
            {before !== null && <del className="text-soft">{before}</del>}
            {before !== null && after !== null && (
              <ArrowRight size={13} aria-label={t("becomes")} className="mx-1.5 inline text-faint" />
            )}
            {after !== null && <ins className="no-underline">{after}</ins>}
            {after === null && before !== null && <span className="ml-1.5">{t("Removed")}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
