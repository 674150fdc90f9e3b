// Adds the addresses of a file to the suppression list.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ApiResponse } from "../../api/address.ts";
import { upload } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatBytes } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { JobProgress, useJob } from "../contacts/job-progress.tsx";
import { rowErrorText } from "../contacts/row-fault-text.ts";

interface ImportSuppressionsProps {
  projectId: string;
  onClose: () => void;
}

export function ImportSuppressionsDialog({ projectId, onClose }: ImportSuppressionsProps) {
  const sending = useMutation({
    mutationFn: (file: File) => upload(api.suppressions.import, { projectId }, file),
  });
  const id = useId();
  return (
    <Dialog title={t("Import suppressed addresses")} open onClose={onClose}>
      {sending.data === undefined ? (
        <div className="flex flex-col gap-3">
          <label htmlFor={id} className="text-sm font-medium">
            {t("CSV file")}
          </label>
          <input
            id={id}
            type="file"
            accept=".csv,.tsv,.txt,.zip,text/csv,application/zip"
            disabled={sending.isPending}
            aria-describedby={`${id}-note`}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file !== undefined) sending.mutate(file);
              // Reset, so that the same file can be chosen again after an edit.
              target.value = "";
            }}
            className="text-sm"
          />
          <p id={`${id}-note`} className="text-sm text-faint">
            {t(
              "From SendGrid, Mailgun or Mailchimp, or any file with one column of addresses. Up to {most}.",
              {
                most: formatBytes(LIMITS.importFileBytes.value),
              },
            )}
          </p>
          {sending.isError && <Failure error={sending.error} />}
        </div>
      ) : (
        <Followed projectId={projectId} jobId={sending.data.jobId} />
      )}
      <div className="mt-5 flex justify-end">
        <Button look="quiet" onClick={onClose}>
          {sending.data === undefined ? t("Cancel") : t("Close")}
        </Button>
      </div>
    </Dialog>
  );
}

function Followed({ projectId, jobId }: { projectId: string; jobId: string }) {
  const queries = useQueryClient();
  const job = useJob(query(api.suppressions.getImport, { projectId, params: { jobId } }));
  const isDone = job.data?.state === "completed";
  useEffect(() => {
    if (isDone)
      void queries.invalidateQueries({ queryKey: resourceKey(api.suppressions.list, { projectId }) });
  }, [isDone, queries, projectId]);
  if (job.isError) return <Failure error={job.error} onRetry={() => void job.refetch()} />;
  if (job.data?.state === "failed") return <p className="text-sm text-bad">{job.data.failedReason}</p>;
  if (job.data?.result == null)
    return <JobProgress label={t("Importing")} job={job.data ?? { state: "waiting", progress: 0 }} />;
  return <Imported result={job.data.result} />;
}

type Result = NonNullable<ApiResponse<typeof api.suppressions.getImport>["result"]>;
const FAULTS_SHOWN = 5;

function Imported({ result: { createdCount, updatedCount, failureCount, errors } }: { result: Result }) {
  return (
    <div role="status" className="flex flex-col gap-2 text-sm wrap-anywhere">
      <p>{plural(createdCount, "{n} address added.", "{n} addresses added.")}</p>
      {updatedCount > 0 && (
        <p>{plural(updatedCount, "{n} address was already listed.", "{n} addresses were already listed.")}</p>
      )}
      {failureCount > 0 && (
        <div className="text-warn">
          <p>{plural(failureCount, "{n} row was rejected:", "{n} rows were rejected:")}</p>
          <ul>
            {errors.slice(0, FAULTS_SHOWN).map((fault) => (
              <li key={fault.row}>{t("Row {row}: {why}", { row: fault.row, why: rowErrorText(fault) })}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
