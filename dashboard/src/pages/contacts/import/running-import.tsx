// Shows an import or a preview by its job ids: its progress, its error, or its report.
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, type ReactNode } from "react";
import { api } from "../../../api/endpoints.ts";
import { projectKey } from "../../../api/query-key.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Card } from "../../../ui/page.tsx";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { jobQuery, JobProgress } from "../job-progress.tsx";
import { ImportReport } from "./import-report.tsx";
import { mergeResults } from "./merge-results.ts";

interface RunningImportProps {
  projectId: string;
  /** Job ids, separated by commas. */
  job: string;
  isDryRun: boolean;
  /** Actions offered once the import has ended. */
  more?: ReactNode;
}

/** A file of the largest size has far fewer parts. */
const JOBS_MAX = 60;

const jobIdsOf = (job: string): string[] => job.split(",").slice(0, JOBS_MAX);

export function RunningImport({ projectId, job, isDryRun, more }: RunningImportProps) {
  const jobIds = jobIdsOf(job);
  const jobs = useQueries({
    queries: jobIds.map((jobId) => jobQuery(query(api.contacts.getImport, { projectId, params: { jobId } }))),
  });
  const queries = useQueryClient();
  const isDone = !isDryRun && jobs.every(({ data }) => data?.state === "completed");
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: projectKey(projectId) });
  }, [isDone, queries, projectId]);
  const broken = jobs.find(({ isError }) => isError);
  if (broken !== undefined)
    return (
      <Ended more={more}>
        <Failure error={broken.error} onRetry={() => void broken.refetch()} />
      </Ended>
    );
  const known = jobs.flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (known.length < jobs.length) return <Skeleton className="h-24" />;
  const failed = known.find(({ state }) => state === "failed");
  const results = known.flatMap(({ result }) => (result === null ? [] : [result]));
  const [first, ...rest] = results;
  if (failed === undefined && (first === undefined || results.length < jobs.length)) {
    const progress = known.reduce((sum, one) => sum + one.progress, 0) / known.length;
    const isWaiting = known.every(({ state }) => state === "waiting");
    return (
      <Card className="p-5">
        <JobProgress
          label={isDryRun ? t("Previewing") : t("Importing")}
          job={{ state: isWaiting ? "waiting" : "active", progress }}
        />
      </Card>
    );
  }
  return (
    <Ended more={more}>
      {failed !== undefined && (
        <Card className="bg-bad-wash p-5">
          <h2 className="font-semibold text-bad">{t("Couldn't complete the import")}</h2>
          <p className="mt-1 text-sm">{failed.failedReason}</p>
        </Card>
      )}
      {first !== undefined && (
        <ImportReport
          projectId={projectId}
          jobIds={jobIds}
          result={mergeResults([first, ...rest])}
          isDryRun={isDryRun}
        />
      )}
    </Ended>
  );
}

function Ended({ children, more }: { children: ReactNode; more: ReactNode }) {
  return (
    <div className="flex flex-col gap-5">
      {children}
      {more !== undefined && <div>{more}</div>}
    </div>
  );
}
