// Contacts from a file: choose it, say which column is what, see what would happen, do it. The running import stands in the URL.
// Before it: contacts-page.tsx. After it: read-csv.ts, csv.ts, import-report.tsx.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft, FileUp } from "lucide-react";
import { useEffect, useState } from "react";
import { call, upload } from "../../api/call.ts";
import { getImport, importContacts } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { ColumnMapping } from "./column-mapping.tsx";
import { guessMapping, writeCsv, type CsvFile } from "./csv.ts";
import { ImportReport } from "./import-report.tsx";
import { JobProgress, useJob } from "./job-progress.tsx";
import { keep, readKept, type ChosenFile } from "./kept-import.ts";
import { readCsv } from "./read-csv.ts";

const route = getRouteApi("/signed-in/$projectId/contacts/import");
const SAMPLE = "email,firstName,plan,subscribed\nada@example.com,Ada,pro,yes\n";

export function ImportPage() {
  const project = useProject();
  const { job } = route.useSearch();
  return (
    <Page title={t("Import contacts")} about={t("From a CSV file, such as every spreadsheet writes.")}>
      <Link
        to="/$projectId/contacts"
        params={{ projectId: project.id }}
        search={{}}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All contacts")}
      </Link>
      {job === undefined ? (
        <Preparation projectId={project.id} />
      ) : (
        <Running projectId={project.id} jobId={job} isDryRun={false} />
      )}
    </Page>
  );
}

function Preparation({ projectId }: { projectId: string }) {
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState(() => readKept(projectId));
  useEffect(() => keep(projectId, chosen), [projectId, chosen]);
  const [trial, setTrial] = useState<string | null>(null);
  const sending = useMutation({
    mutationFn: ({ file, mapping, dryRun }: ChosenFile & { dryRun: boolean }) =>
      upload(importContacts, { projectId, query: dryRun ? { dryRun: "true" } : {} }, writeCsv(file, mapping)),
    onSuccess: async ({ jobId }, { dryRun }) => {
      if (dryRun) return setTrial(jobId);
      keep(projectId, null);
      await navigate({ search: { job: jobId } });
    },
  });
  if (chosen === null)
    return <FileChoice onChoose={(file) => setChosen({ file, mapping: guessMapping(file) })} />;
  /** What was said of one file, or of another mapping, says nothing of the next. */
  const forget = () => {
    setTrial(null);
    sending.reset();
  };
  const send = (dryRun: boolean) => {
    forget();
    sending.mutate({ ...chosen, dryRun });
  };
  const hasAddress = chosen.mapping.filter((field) => field === "email").length === 1;
  return (
    <div className="flex max-w-4xl flex-col gap-5">
      <ColumnMapping
        {...chosen}
        onChange={(mapping) => {
          forget();
          setChosen({ ...chosen, mapping });
        }}
      />
      {!hasAddress && (
        <p role="status" className="text-sm text-warn">
          {t("Exactly one column must be the address.")}
        </p>
      )}
      {sending.isError && <Failure error={sending.error} />}
      {trial !== null && <Running projectId={projectId} jobId={trial} isDryRun />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          look="quiet"
          onClick={() => {
            forget();
            setChosen(null);
          }}
        >
          {t("Another file")}
        </Button>
        <Button busy={sending.isPending} disabled={!hasAddress} onClick={() => send(true)}>
          {t("Try it without changing anything")}
        </Button>
        <Button look="primary" busy={sending.isPending} disabled={!hasAddress} onClick={() => send(false)}>
          {plural(chosen.file.rows.length, "Import {n} row", "Import {n} rows")}
        </Button>
      </div>
    </div>
  );
}

function FileChoice({ onChoose }: { onChoose: (file: CsvFile) => void }) {
  const reading = useMutation({ mutationFn: readCsv, onSuccess: onChoose });
  const read = (file: File | null | undefined) => file != null && reading.mutate(file);
  return (
    <Card className="max-w-3xl p-5">
      {reading.isError && <Failure error={reading.error} />}
      <label
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          read(event.dataTransfer.files[0]);
        }}
        className="flex cursor-pointer flex-col items-center gap-2 rounded-md border border-dashed border-line-strong px-6 py-14 text-center hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent"
      >
        <FileUp size={20} className="text-faint" aria-hidden />
        <span className="font-medium">{t("Choose a CSV file, or drop it here")}</span>
        <span className="text-sm text-soft">{t("One person a row, and a column with the addresses.")}</span>
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          onChange={({ target }) => {
            read(target.files?.[0]);
            // The same file may be chosen again, once it was saved otherwise.
            target.value = "";
          }}
          className="sr-only"
        />
      </label>
      <p className="mt-4 text-sm text-soft">
        <a
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(SAMPLE)}`}
          download="contacts.csv"
          className="text-accent hover:underline"
        >
          {t("Download a sample file")}
        </a>
      </p>
    </Card>
  );
}

interface RunningProps {
  projectId: string;
  jobId: string;
  isDryRun: boolean;
}

function Running({ projectId, jobId, isDryRun }: RunningProps) {
  const job = useJob(["project", projectId, "import", jobId], (signal) =>
    call(getImport, { projectId, params: { jobId }, signal }),
  );
  const { data } = job;
  const queries = useQueryClient();
  const isDone = data?.state === "completed" && !isDryRun;
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: ["project", projectId] });
  }, [isDone, queries, projectId]);
  if (job.isError) return <Failure error={job.error} onRetry={() => void job.refetch()} />;
  if (data === undefined) return <Skeleton className="h-24" />;
  if (data.state === "failed")
    return (
      <Card className="max-w-4xl bg-bad-wash p-5">
        <h2 className="font-semibold text-bad">{t("The import could not be completed")}</h2>
        <p className="mt-1 text-sm">{data.failedReason}</p>
      </Card>
    );
  if (data.result === null)
    return (
      <Card className="max-w-4xl p-5">
        <JobProgress label={isDryRun ? t("Trying") : t("Importing")} job={data} />
      </Card>
    );
  return <ImportReport projectId={projectId} jobId={jobId} result={data.result} isDryRun={isDryRun} />;
}
