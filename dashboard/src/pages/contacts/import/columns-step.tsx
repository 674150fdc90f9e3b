// The second step of an import: what each column becomes, a preview that changes nothing, and the start.
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type Dispatch, type SetStateAction } from "react";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { ColumnList } from "./column-list.tsx";
import { ImportOptionsCard } from "./import-options.tsx";
import type { ChosenFile } from "./import-plan.ts";
import { openQuestions } from "./open-questions.ts";
import { PeopleSummary, usePeopleCount } from "./people-summary.tsx";
import { QuestionList } from "./question-list.tsx";
import { RunningImport } from "./running-import.tsx";
import { sendImport, withSegment, type SendProgress } from "./send-import.ts";

const route = getRouteApi("/signed-in/$projectId/contacts/import");

interface ColumnsStepProps {
  projectId: string;
  chosen: ChosenFile;
  trial: string | undefined;
  onChange: Dispatch<SetStateAction<ChosenFile | null>>;
}

const NO_COUNTS: ReadonlyMap<number, number> = new Map();

export function ColumnsStep({ projectId, chosen, trial, onChange }: ColumnsStepProps) {
  const navigate = route.useNavigate();
  const sending = useSending({ projectId, trial, onChange });
  const { planned, options } = chosen;
  const counting = usePeopleCount(chosen);
  const questions = useMemo(() => openQuestions(planned, options), [planned, options]);
  const isCounting = counting.isPending || counting.isPlaceholderData;
  // An import starts only after its summary has been shown.
  const isBlocked = questions.length > 0 || isCounting;
  const change = (changed: Partial<Pick<ChosenFile, "planned" | "options">>) => {
    sending.reset();
    onChange({ planned, options, ...changed });
    if (trial !== undefined)
      void navigate({ search: { step: "columns" }, replace: true, resetScroll: false });
  };
  if (sending.isPending && sending.progress !== null && sending.progress.parts > 1)
    return <SendingParts progress={sending.progress} dryRun={sending.variables.dryRun} />;
  return (
    <div className="flex flex-col gap-5">
      {chosen.job !== undefined && <AlreadyImported projectId={projectId} job={chosen.job} />}
      <ColumnList
        projectId={projectId}
        planned={planned}
        otherValues={counting.data?.otherValues ?? NO_COUNTS}
        onChange={(changed) => change({ planned: changed })}
      />
      <ImportOptionsCard
        projectId={projectId}
        fileName={planned.name}
        options={options}
        onChange={(changed) => change({ options: changed })}
      />
      <PeopleSummary count={counting.data} isCounting={isCounting} resubscribes={options.resubscribes} />
      <QuestionList questions={questions} />
      {sending.isError && <SendingFailed error={sending.error} sentParts={sending.sentParts} />}
      {trial !== undefined && trial === chosen.trial && !sending.isPending && (
        <RunningImport projectId={projectId} job={trial} isDryRun />
      )}
      <Actions
        rows={planned.survey.rows}
        isBusy={sending.isPending}
        isBlocked={isBlocked}
        onOther={() => void navigate({ search: {} })}
        onSend={(dryRun) => sending.mutate({ chosen, dryRun })}
      />
    </div>
  );
}

interface ActionsProps {
  rows: number;
  isBusy: boolean;
  isBlocked: boolean;
  onOther: () => void;
  onSend: (dryRun: boolean) => void;
}

function Actions({ rows, isBusy, isBlocked, onOther, onSend }: ActionsProps) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button look="quiet" onClick={onOther}>
        {t("Choose another file")}
      </Button>
      <Button busy={isBusy} disabled={isBlocked} onClick={() => onSend(true)}>
        {t("Preview import")}
      </Button>
      <Button look="primary" busy={isBusy} disabled={isBlocked} onClick={() => onSend(false)}>
        {plural(rows, "Import {n} row", "Import {n} rows")}
      </Button>
    </div>
  );
}

function SendingFailed({ error, sentParts }: { error: unknown; sentParts: number }) {
  return (
    <div className="flex flex-col gap-2">
      <Failure error={error} />
      {sentParts > 0 && (
        <p className="text-sm text-soft">
          {plural(
            sentParts,
            "{n} part of the file was sent. Try again to continue with the rest.",
            "{n} parts of the file were sent. Try again to continue with the rest.",
          )}
        </p>
      )}
    </div>
  );
}

function AlreadyImported({ projectId, job }: { projectId: string; job: string }) {
  return (
    <p role="status" className="rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
      {t("You already imported this file.")}{" "}
      <Link
        to="/$projectId/contacts/import"
        params={{ projectId }}
        search={{ job }}
        className="text-accent hover:underline"
      >
        {t("View report")}
      </Link>
    </p>
  );
}

function SendingParts({ progress, dryRun }: { progress: SendProgress; dryRun: boolean }) {
  const { part, parts, share } = progress;
  useLeaveWarning(true, {
    title: t("Leave this page?"),
    description: t("The rest of the file won't be imported."),
  });
  return (
    <div role="status" className="rounded-lg border border-line bg-surface p-5">
      <Progress
        label={dryRun ? t("Previewing") : t("Importing")}
        share={share}
        text={t("Part {part} of {parts}", { part, parts })}
      />
      <p className="mt-2 text-sm text-soft">{t("Keep this page open until the import is done.")}</p>
    </div>
  );
}

interface Sent {
  chosen: ChosenFile;
  dryRun: boolean;
  jobs: string[];
}

/** Sends the file with its current plan and shows the report. A retry continues with the failed part. */
function useSending({ projectId, trial, onChange }: Omit<ColumnsStepProps, "chosen">) {
  const navigate = route.useNavigate();
  const [progress, setProgress] = useState<SendProgress | null>(null);
  const sent = useRef<Sent | null>(null);
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), []);
  const sending = useMutation({
    mutationFn: async ({ chosen: input, dryRun }: { chosen: ChosenFile; dryRun: boolean }) => {
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      setProgress(null);
      const before = sent.current;
      const isAgain = before !== null && before.dryRun === dryRun && before.chosen === input;
      const chosen = dryRun || isAgain ? input : await withSegment(projectId, input);
      if (chosen !== input) onChange((now) => (now === input ? chosen : now));
      const current: Sent = isAgain ? before : { chosen, dryRun, jobs: [] };
      sent.current = current;
      await sendImport({ projectId, chosen, dryRun, signal, jobs: current.jobs, onProgress: setProgress });
      return { chosen, job: current.jobs.join(",") };
    },
    onSuccess: async ({ chosen, job }, { dryRun }) => {
      sent.current = null;
      if (leaving.current?.signal.aborted === true) return;
      const become = dryRun ? { trial: job } : { job };
      onChange((now) => (now === chosen ? { ...now, ...become } : now));
      await (dryRun
        ? navigate({
            search: { step: "columns", trial: job },
            replace: trial !== undefined,
            // The preview appears next to its button, at the end of a long page.
            resetScroll: false,
            ignoreBlocker: true,
          })
        : navigate({ search: { job }, ignoreBlocker: true }));
    },
  });
  return { ...sending, progress, sentParts: sent.current?.jobs.length ?? 0 };
}
