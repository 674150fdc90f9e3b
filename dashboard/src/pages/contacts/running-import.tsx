// An import or a trial, by the id of its job: how far it is, that it failed, or what came of it.
// Before it: import-page.tsx, columns-step.tsx. After it: import-report.tsx.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, type ReactNode } from "react";
import { call } from "../../api/call.ts";
import { getImport } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ImportReport } from "./import-report.tsx";
import { JobProgress, useJob } from "./job-progress.tsx";

interface RunningImportProps {
  projectId: string;
  jobId: string;
  isDryRun: boolean;
  /** What can be done once it has ended. */
  more?: ReactNode;
}

export function RunningImport({ projectId, jobId, isDryRun, more }: RunningImportProps) {
  const job = useJob(["project", projectId, "import", jobId], (signal) =>
    call(getImport, { projectId, params: { jobId }, signal }),
  );
  const { data } = job;
  const queries = useQueryClient();
  const isDone = data?.state === "completed" && !isDryRun;
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: ["project", projectId] });
  }, [isDone, queries, projectId]);
  if (job.isError)
    return (
      <Ended more={more}>
        <Failure error={job.error} onRetry={() => void job.refetch()} />
      </Ended>
    );
  if (data === undefined) return <Skeleton className="h-24" />;
  if (data.state === "failed")
    return (
      <Ended more={more}>
        <Card className="bg-bad-wash p-5">
          <h2 className="font-semibold text-bad">{t("The import could not be completed")}</h2>
          <p className="mt-1 text-sm">{data.failedReason}</p>
        </Card>
      </Ended>
    );
  if (data.result === null)
    return (
      <Card className="max-w-4xl p-5">
        <JobProgress label={isDryRun ? t("Trying") : t("Importing")} job={data} />
      </Card>
    );
  return (
    <Ended more={more}>
      <ImportReport projectId={projectId} jobId={jobId} result={data.result} isDryRun={isDryRun} />
    </Ended>
  );
}

function Ended({ children, more }: { children: ReactNode; more: ReactNode }) {
  return (
    <div className="flex max-w-4xl flex-col gap-5">
      {children}
      {more !== undefined && <div>{more}</div>}
    </div>
  );
}
