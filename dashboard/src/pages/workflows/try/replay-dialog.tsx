// Shows what the last executions of a workflow did, next to what they would have done in its current version.
import { useQuery } from "@tanstack/react-query";
import type { ApiResponse } from "../../../api/address.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { formatNumber } from "../../../ui/format.ts";
import { Failure } from "../../../ui/states.tsx";
import { Table, type Column } from "../../../ui/table.tsx";

type ReplayedStep = ApiResponse<typeof api.workflows.replay>["steps"][number];

interface ReplayDialogProps {
  projectId: string;
  workflowId: string;
  onClose: () => void;
}

export function ReplayDialog({ projectId, workflowId, onClose }: ReplayDialogProps) {
  const { data, error, refetch } = useQuery({
    ...query(api.workflows.replay, { projectId, params: { id: workflowId }, body: {} }),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Dialog
      title={t("Replay history")}
      description={t(
        "How many people reached each step, and how many would have with the current steps. Nothing is sent.",
      )}
      open
      onClose={onClose}
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.executions === 0 && <p className="text-sm text-soft">{t("No one has entered yet.")}</p>}
      {error === null && data?.executions !== 0 && (
        <Table
          label={t("Replay history")}
          columns={COLUMNS}
          rows={data?.steps}
          rowKey={({ stepId }) => stepId}
        />
      )}
      {data !== undefined && data.executions > 0 && <Remarks {...data} />}
      <div className="mt-4 flex justify-end">
        <Button onClick={onClose}>{t("Close")}</Button>
      </div>
    </Dialog>
  );
}

const COLUMNS: ReadonlyArray<Column<ReplayedStep>> = [
  { key: "step", head: t("Step"), width: "w-28", cell: ({ name }) => <span title={name}>{name}</span> },
  { key: "did", head: t("Actual"), width: "w-18", align: "end", cell: ({ did }) => countText(did) },
  {
    key: "would",
    head: t("Replayed"),
    width: "w-18",
    align: "end",
    cell: ({ did, would }) => (
      <span className={would.entered === did.entered && would.failed === did.failed ? "" : "font-semibold"}>
        {countText(would)}
      </span>
    ),
  },
];

/** Returns how many people reached a step, and how many of them failed there. */
function countText({ entered, failed }: Pick<ReplayedStep["did"], "entered" | "failed">): string {
  return failed === 0
    ? formatNumber(entered)
    : t("{count} ({failed} failed)", { count: formatNumber(entered), failed: formatNumber(failed) });
}

/** Says what the numbers are about and how far they can be trusted. */
function Remarks({ executions, steps }: ApiResponse<typeof api.workflows.replay>) {
  const assumed = steps.reduce((sum, { would }) => sum + would.assumed, 0);
  return (
    <div className="mt-3 flex flex-col gap-1 text-sm text-soft">
      <p>{plural(executions, "The last execution, until now", "The last {n} executions, until now")}</p>
      {assumed > 0 && (
        <p>
          {plural(
            assumed,
            "{n} result isn't recorded and was assumed: the response of a changed webhook, or a condition on today's contact data.",
            "{n} results aren't recorded and were assumed: responses of changed webhooks, or conditions on today's contact data.",
          )}
        </p>
      )}
    </div>
  );
}
