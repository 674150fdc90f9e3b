// Lists the runs of an execution in order. Each one opens to show what the step read, compared and returned.
import { Link } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { reasonText } from "../../../text/reason-text.ts";
import { t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import { Badge } from "../../../ui/page.tsx";
import { StatusBadge, STATUSES } from "../../emails/statuses.tsx";
import { branchName, STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import { stepText, type Names } from "../steps/step-text.ts";
import { Comparisons } from "../try/comparisons.tsx";
import { comparisonsOf } from "../try/trial-words.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { inputOf, readsContact, readValues, versionOf } from "./execution-path.ts";
import { RUN_STATUSES, type Execution } from "./execution-status.ts";
import { Json } from "./json.tsx";

interface RunListProps {
  projectId: string;
  execution: Execution;
  /** The steps of its version. */
  steps: readonly Step[];
  workflow: Workflow;
  names: Names;
  /** The index of the open run, or null. */
  open: number | null;
  /** Increases when the open run was chosen elsewhere, and takes the focus. */
  focused: number;
  onOpen: (place: number | null) => void;
}

export function RunList(props: RunListProps) {
  const { execution, open, focused, onOpen } = props;
  return (
    <ol className="divide-y divide-line">
      {execution.steps.map((run, place) => (
        <li key={`${run.stepId} ${run.startedAt} ${place}`} className="text-sm">
          <RunHead
            run={run}
            isOpen={place === open}
            focused={place === open ? focused : 0}
            onPress={() => onOpen(place === open ? null : place)}
          />
          <Outcome projectId={props.projectId} run={run} />
          {place === open && <Details {...props} place={place} run={run} />}
        </li>
      ))}
    </ol>
  );
}

type Run = Execution["steps"][number];

interface RunHeadProps {
  run: Run;
  isOpen: boolean;
  focused: number;
  onPress: () => void;
}

function RunHead({ run, isOpen, focused, onPress }: RunHeadProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (focused > 0) button.current?.focus();
  }, [focused]);
  const { type, status, startedAt, branch } = run;
  const { icon: Icon } = STEP_KINDS[type];
  return (
    <button
      ref={button}
      type="button"
      aria-expanded={isOpen}
      onClick={onPress}
      className="group flex w-full items-center gap-3 px-5 py-3 text-left"
    >
      <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
        <Icon size={14} className="shrink-0 text-accent" aria-hidden />
        <span className="min-w-0 font-medium wrap-anywhere group-hover:underline">{stepName(run)}</span>
        <Badge tone={RUN_STATUSES[status].tone}>{RUN_STATUSES[status].label}</Badge>
        {branch !== null && <Badge tone="neutral">{branchName(type, branch)}</Badge>}
        <time dateTime={startedAt} className="ml-auto text-xs text-soft tabular-nums">
          {formatInstant(startedAt)}
        </time>
      </span>
      <ChevronDown
        size={14}
        className={`shrink-0 text-faint transition-transform ${isOpen ? "rotate-180" : ""}`}
        aria-hidden
      />
    </button>
  );
}

/** Shows without opening what matters most: a wait, an error, or an email. */
function Outcome({ projectId, run }: { projectId: string; run: Run }) {
  const { completedAt, waitsUntil, error, email } = run;
  const waits = completedAt === null && waitsUntil !== null;
  if (!waits && error === null && email === null) return null;
  return (
    <div className="px-5 pb-3">
      {waits && <p className="text-soft">{t("Continues {when}", { when: formatInstant(waitsUntil) })}</p>}
      {error !== null && <p className="wrap-anywhere text-bad">{reasonText(error)}</p>}
      {email !== null && (
        <p className="flex flex-wrap items-center gap-x-2">
          <Link
            to="/$projectId/emails/$emailId"
            params={{ projectId, emailId: email.id }}
            className="inline-block py-0.5 wrap-anywhere text-accent hover:underline"
          >
            <bdi>{email.subject === "" ? t("Open email") : email.subject}</bdi>
          </Link>
          {isEmailStatus(email.status) && <StatusBadge status={email.status} />}
        </p>
      )}
    </div>
  );
}

/** An older page may not know a new status. */
function isEmailStatus(status: string): status is EmailStatus {
  return Object.hasOwn(STATUSES, status);
}

function Details(props: RunListProps & { run: Run; place: number }) {
  const { execution, steps, workflow, names, run, place } = props;
  const version = versionOf(execution, place);
  // Another version may have other settings, so its words would describe what didn't run.
  const step = version === execution.version ? steps.find(({ id }) => id === run.stepId) : undefined;
  const input = inputOf(execution, place);
  const values = step === undefined ? [] : readValues(step.config, input);
  const compared = step === undefined ? [] : comparisonsOf(run, step, names);
  const { compared: raw, ...others } = run.output ?? {};
  const output = compared.length > 0 || raw === undefined ? others : { compared: raw, ...others };
  return (
    <div className="flex flex-col gap-3 px-5 pb-4">
      <p className="wrap-anywhere text-soft">
        {step === undefined ? t("Version {n}", { n: version }) : stepText(step, workflow, names)}
      </p>
      {compared.length > 0 && (
        <Part title={t("Compared values")}>
          <Comparisons comparisons={compared} />
        </Part>
      )}
      <Part title={t("Input")}>
        <Values values={values} />
        {step !== undefined && compared.length === 0 && readsContact(step.config) && (
          <p className="text-soft">{t("The contact's data at that time isn't recorded.")}</p>
        )}
        <details>
          <summary className="cursor-pointer text-soft hover:text-ink">{t("All variables")}</summary>
          <Json value={input} />
        </details>
      </Part>
      {Object.keys(output).length > 0 && (
        <Part title={t("Output")}>
          <Json value={output} />
        </Part>
      )}
    </div>
  );
}

function Values({ values }: { values: ReturnType<typeof readValues> }) {
  return values.map(([name, value]) => (
    <p key={name} className="wrap-anywhere">
      <code className="font-mono text-xs">{name}</code>:{" "}
      {value === undefined ? (
        t("no value")
      ) : (
        <code className="font-mono text-xs">{JSON.stringify(value)}</code>
      )}
    </p>
  ));
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={title}>
      <h3 className="mb-0.5 text-xs font-medium text-soft">{title}</h3>
      {children}
    </div>
  );
}
