// Says that people are on earlier versions of a workflow, and shows the progress while they move.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { useToast } from "../../../ui/toasts.tsx";
import { useUndoToast } from "../../use-undo.ts";
import { invalidateWorkflows, type Workflow } from "../workflow-queries.ts";
import { VersionsDialog } from "../versions/versions-dialog.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import { leftOutText, type Move } from "./move-texts.ts";

const POLL_EVERY_MS = 1_000;
const WHOLE = 100;

interface MoveNoticeProps {
  projectId: string;
  workflow: Workflow;
}

export function MoveNotice({ projectId, workflow: { id, version } }: MoveNoticeProps) {
  const [isOpen, setOpen] = useState(false);
  const [isComparing, setComparing] = useState(false);
  const [jobId, setJobId] = useState<string | null>(null);
  const preview = useQuery(query(api.workflows.previewMove, { projectId, params: { id } }, version));
  const total = preview.data?.total ?? 0;
  if (jobId !== null)
    return (
      <Moving
        projectId={projectId}
        workflowId={id}
        jobId={jobId}
        onEnd={() => {
          setJobId(null);
        }}
      />
    );
  if (preview.data === undefined || total === 0) return null;
  return (
    <div
      role="status"
      className="my-4 flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-hover p-4 text-sm"
    >
      <div>
        <p className="font-semibold">
          {plural(total, "{n} person is on an earlier version", "{n} people are on earlier versions")}
        </p>
        <p className="mt-1 text-soft">{t("Your changes don't reach people who entered before them.")}</p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button look="quiet" onClick={() => setComparing(true)}>
          {t("View changes")}
        </Button>
        <Button onClick={() => setOpen(true)}>{t("Move to this version")}</Button>
      </div>
      {isComparing && (
        <VersionsDialog
          projectId={projectId}
          workflowId={id}
          from={Math.max(...preview.data.groups.map((group) => group.version))}
          onClose={() => setComparing(false)}
        />
      )}
      {isOpen && (
        <MoveDialog
          projectId={projectId}
          workflowId={id}
          preview={preview.data}
          onStarted={(started) => {
            setOpen(false);
            setJobId(started);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

interface MoveKey {
  projectId: string;
  workflowId: string;
  jobId: string;
}

const moveQuery = ({ projectId, workflowId, jobId }: MoveKey) =>
  query(api.workflows.getMove, { projectId, params: { id: workflowId, jobId } });

function Moving({ onEnd, ...key }: MoveKey & { onEnd: () => void }) {
  const report = useReport(key);
  const move = useQuery({
    ...moveQuery(key),
    refetchInterval: ({ state: { data } }) => (data?.job.finishedAt == null ? POLL_EVERY_MS : false),
  });
  const { data } = move;
  useEffect(() => {
    if (data?.job.finishedAt != null) {
      onEnd();
      void report(data);
    }
  }, [data?.job.finishedAt]);
  return (
    <div role="status" className="my-4 rounded-lg border border-line bg-hover p-4">
      <Progress label={t("Moving people to this version")} share={(data?.job.progress ?? 0) / WHOLE} />
    </div>
  );
}

/** Returns a function that reports the end of a move and offers to undo it. */
function useReport({ projectId, workflowId, jobId }: MoveKey) {
  const toast = useToast();
  const offerUndo = useUndoToast(projectId);
  const queries = useQueryClient();
  const params = { id: workflowId, jobId };
  async function undo() {
    await call(api.workflows.undoMove, { projectId, params });
    const { undo: ended } = await untilUndone();
    const { returned, kept } = ended?.result ?? { returned: 0, kept: 0 };
    toast(
      plural(returned, "{n} person moved back", "{n} people moved back"),
      kept === 0 ? undefined : plural(kept, "{n} had already continued.", "{n} had already continued."),
    );
  }
  async function untilUndone(): Promise<Move> {
    for (;;) {
      const move = await call(api.workflows.getMove, { projectId, params });
      if (move.undo?.finishedAt != null) return move;
      await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
    }
  }
  return async ({ job }: Move) => {
    await invalidateWorkflows(queries, projectId);
    if (job.result === null) return void toast(t("Couldn't move everyone"), job.failedReason ?? "");
    const { moved, ended } = job.result;
    const title = plural(moved, "{n} person moved", "{n} people moved");
    const description = leftOutText(job.result);
    if (moved + ended === 0) return void toast(title, description);
    return offerUndo(title, { description, undo, isShownElsewhere: true });
  };
}
