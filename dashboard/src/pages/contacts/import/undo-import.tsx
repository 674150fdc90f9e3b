// Undoes an import: shows what would happen first, then the progress and the result.
import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiResponse } from "../../../api/address.ts";
import { call, CallError } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { projectKey } from "../../../api/query-key.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatDay } from "../../../ui/format.ts";
import { Card } from "../../../ui/page.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { Failure } from "../../../ui/states.tsx";
import { addCounts, UndoCountList } from "./undo-counts.tsx";

type Undo = ApiResponse<typeof api.contacts.getImportUndo>;

const POLL_MS = 1_000;
const WHOLE = 100;

interface UndoImportProps {
  projectId: string;
  /** In the order of the parts. */
  jobIds: readonly string[];
}

const undoQuery = (projectId: string, jobId: string) =>
  query(api.contacts.getImportUndo, { projectId, params: { jobId } });

const isRunning = ({ job }: Undo) => job !== null && (job.state === "waiting" || job.state === "active");

/** Returns whether every part of the import was undone. Reads what UndoImport polls. */
export function useIsUndone(projectId: string, jobIds: readonly string[]): boolean {
  const undos = useQueries({ queries: jobIds.map((jobId) => undoQuery(projectId, jobId)) });
  return undos.length > 0 && undos.every(({ data }) => data?.job?.result != null);
}

export function UndoImport({ projectId, jobIds }: UndoImportProps) {
  const undos = useQueries({
    queries: jobIds.map((jobId) => ({
      ...undoQuery(projectId, jobId),
      refetchInterval: ({ state: { data } }: { state: { data: Undo | undefined } }) =>
        data !== undefined && isRunning(data) ? POLL_MS : (false as const),
    })),
  });
  const undoing = useUndoing(projectId, jobIds);
  const broken = undos.find(({ isError }) => isError);
  // The server explains why this import can't be undone, for example because its 30 days are over.
  if (broken?.error instanceof CallError && broken.error.code === "CONFLICT")
    return <p className="text-sm text-soft">{broken.error.message}</p>;
  if (broken !== undefined) return <Failure error={broken.error} onRetry={() => void broken.refetch()} />;
  const parts = undos.flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (parts.length < undos.length) return null;
  const results = parts.flatMap(({ job }) => (job?.result == null ? [] : [job.result]));
  if (results.length === parts.length)
    return (
      <Card className="p-5">
        <h3 className="font-semibold" role="status">
          {t("Import undone")}
        </h3>
        <UndoCountList counts={addCounts(results)} isDone />
      </Card>
    );
  const running = parts.find(isRunning);
  if (undoing.isPending || running !== undefined)
    return (
      <Card className="p-5">
        <Progress
          label={t("Undoing the import")}
          share={(results.length + (running?.job?.progress ?? 0) / WHOLE) / parts.length}
        />
      </Card>
    );
  return <OfferedUndo parts={parts} undoing={undoing} />;
}

interface OfferedUndoProps {
  parts: readonly Undo[];
  undoing: ReturnType<typeof useUndoing>;
}

function OfferedUndo({ parts, undoing }: OfferedUndoProps) {
  const [isAsking, setAsking] = useState(false);
  const failed = parts.find(({ job }) => job?.state === "failed");
  const counts = parts.flatMap((part) => (part.counts === null ? [] : [part.counts]));
  const [{ until } = { until: "" }] = parts;
  return (
    <>
      {undoing.isError && <Failure error={undoing.error} />}
      {failed !== undefined && <p className="text-sm text-bad">{failed.job?.failedReason}</p>}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => setAsking(true)}>{t("Undo import")}</Button>
        <p className="text-sm text-soft">{t("Possible until {day}", { day: formatDay(until) })}</p>
      </div>
      {isAsking && (
        <Dialog title={t("Undo this import?")} open onClose={() => setAsking(false)}>
          <UndoCountList counts={addCounts(counts)} isDone={false} />
          <div className="mt-5 flex justify-end gap-2">
            <Button look="quiet" onClick={() => setAsking(false)}>
              {t("Cancel")}
            </Button>
            <Button
              look="danger"
              onClick={() => {
                setAsking(false);
                undoing.mutate();
              }}
            >
              {t("Undo import")}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Undoes the parts in reverse order, so that each finds the values it wrote. */
function useUndoing(projectId: string, jobIds: readonly string[]) {
  const queries = useQueryClient();
  const read = async (jobId: string) => {
    const undo = await call(api.contacts.getImportUndo, { projectId, params: { jobId } });
    queries.setQueryData(undoQuery(projectId, jobId).queryKey, undo);
    return undo;
  };
  return useMutation({
    mutationFn: async () => {
      for (const jobId of jobIds.toReversed()) {
        let undo = await read(jobId);
        if (undo.job === null || undo.job.state === "failed")
          await call(api.contacts.undoImport, { projectId, params: { jobId } });
        for (undo = await read(jobId); undo.job?.state !== "completed"; undo = await read(jobId)) {
          if (undo.job?.state === "failed")
            throw new CallError(undo.job.failedReason ?? t("The import couldn't be undone."));
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        }
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: projectKey(projectId) }),
  });
}
