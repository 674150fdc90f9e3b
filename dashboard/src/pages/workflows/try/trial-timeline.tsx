// The result of a trial as a timeline: each step with its time, its branch and its email.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatInstant } from "../../../ui/format.ts";
import { MailFrame } from "../../../ui/mail-frame.tsx";
import { Badge } from "../../../ui/page.tsx";
import { branchName, STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import type { Names } from "../steps/step-text.ts";
import { readWorkflowSearch } from "../search.ts";
import type { Workflow } from "../workflow-queries.ts";
import { Comparisons } from "./comparisons.tsx";
import { afterText, comparisonsOf, endText, remarkOf, runText } from "./trial-words.ts";
import type { StepRun, TrialMail, TrialResult } from "./use-trial.ts";

interface TimelineProps {
  workflow: Workflow;
  names: Names;
  trial: TrialResult;
}

interface Moment {
  at: string;
  runs: Array<{ run: StepRun; mail: TrialMail | undefined }>;
}

/** Groups the steps that begin at the same time. A step in a loop has several emails, in the order of its runs. */
function momentsOf({ steps, emails }: TrialResult): Moment[] {
  const moments: Moment[] = [];
  const unread = [...emails];
  for (const run of steps) {
    const place = unread.findIndex(({ stepId, at }) => stepId === run.stepId && at === run.startedAt);
    const [mail] = place === -1 ? [] : unread.splice(place, 1);
    const last = moments.at(-1);
    if (last?.at === run.startedAt) last.runs.push({ run, mail });
    else moments.push({ at: run.startedAt, runs: [{ run, mail }] });
  }
  return moments;
}

export function TrialTimeline({ workflow, names, trial }: TimelineProps) {
  const [opened, setOpened] = useState<TrialMail | null>(null);
  const { steps, startedAt, endedAt, goalReachedAt, status } = trial;
  return (
    <>
      <ol aria-label={t("Path")} className="flex flex-col gap-4 text-sm">
        {momentsOf(trial).map(({ at, runs }, index) => (
          <li key={index}>
            <Time startedAt={startedAt} at={at} />
            <ol className="flex flex-col gap-2.5 border-l border-line pl-3">
              {runs.map(({ run, mail }, place) => (
                <Run key={place} run={run} mail={mail} workflow={workflow} names={names} onOpen={setOpened} />
              ))}
            </ol>
          </li>
        ))}
        <li>
          {endedAt !== null && endedAt !== steps.at(-1)?.startedAt && (
            <Time startedAt={startedAt} at={endedAt} />
          )}
          <p className={`font-medium wrap-anywhere ${status === "FAILED" ? "text-bad" : ""}`}>
            {endText(trial)}
          </p>
          {goalReachedAt !== null && (
            <p className="text-soft">{t("Goal reached {when}", { when: formatInstant(goalReachedAt) })}</p>
          )}
        </li>
      </ol>
      {opened !== null && <MailDialog mail={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

function Time({ startedAt, at }: { startedAt: string; at: string }) {
  return (
    <p className="mb-1.5 text-xs text-soft">
      <span className="inline-block font-medium text-ink first-letter:uppercase">
        {afterText(startedAt, at)}
      </span>
      {" · "}
      <time dateTime={at} className="tabular-nums">
        {formatInstant(at)}
      </time>
    </p>
  );
}

interface RunProps extends Omit<TimelineProps, "trial"> {
  run: StepRun;
  mail: TrialMail | undefined;
  onOpen: (mail: TrialMail) => void;
}

function Run({ run, mail, workflow, names, onOpen }: RunProps) {
  const { type, branch, stepId, error } = run;
  const { icon: Icon } = STEP_KINDS[type];
  const step = workflow.steps.find(({ id }) => id === stepId);
  const text = step === undefined ? null : runText(run, step, workflow, names);
  const remark = remarkOf(run);
  return (
    <li>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Icon size={14} className="shrink-0 text-accent" aria-hidden />
        <Link
          from="/$projectId/workflows/$workflowId"
          to="/$projectId/workflows/$workflowId"
          search={({ view }) => readWorkflowSearch({ view, step: stepId })}
          className="font-medium wrap-anywhere hover:underline"
        >
          {stepName(run)}
        </Link>
        {branch !== null && <Badge tone="neutral">{branchName(type, branch)}</Badge>}
      </p>
      {text !== null && <p className="wrap-anywhere text-soft">{text}</p>}
      {step !== undefined && (type === "CONDITION" || type === "BRANCH") && (
        <Comparisons comparisons={comparisonsOf(run, step, names)} />
      )}
      {remark !== null && <p className="wrap-anywhere text-warn">{remark}</p>}
      {error !== null && <p className="wrap-anywhere text-bad">{error}</p>}
      {mail !== undefined && <Mail mail={mail} onOpen={onOpen} />}
    </li>
  );
}

function Mail({ mail, onOpen }: { mail: TrialMail; onOpen: (mail: TrialMail) => void }) {
  const { subject, to, error } = mail;
  return (
    <div className="mt-0.5">
      <p className="wrap-anywhere text-soft">
        {t("“{template}” to {address}", { template: subject || t("No subject"), address: to })}
      </p>
      {error === null ? (
        <Button className="mt-1.5" onClick={() => onOpen(mail)}>
          {t("Open preview")}
        </Button>
      ) : (
        <p className="wrap-anywhere text-bad">{error}</p>
      )}
    </div>
  );
}

function MailDialog({ mail, onClose }: { mail: TrialMail; onClose: () => void }) {
  return (
    <Dialog
      title={mail.subject || t("No subject")}
      description={t("From {from} to {to}", { from: mail.from, to: mail.to })}
      open
      onClose={onClose}
    >
      <MailFrame title={t("Email content")} html={mail.html} className="h-96 w-full" />
      <div className="mt-4 flex justify-end">
        {/* The frame must not have the focus first, because Escape in a frame doesn't close the dialog. */}
        <Button data-first="" onClick={onClose}>
          {t("Close")}
        </Button>
      </div>
    </Dialog>
  );
}
