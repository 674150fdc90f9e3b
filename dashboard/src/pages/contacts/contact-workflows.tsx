// Lists a contact's current and past workflows, newest first.
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { usePages } from "../../api/use-list.ts";
import { endpointKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";

type Execution = ApiResponse<typeof api.contacts.executions>["data"][number];

const STATUSES: Record<Execution["status"], { tone: Tone; label: string }> = {
  RUNNING: { tone: "good", label: t("Running") },
  WAITING: { tone: "good", label: t("Waiting") },
  COMPLETED: { tone: "neutral", label: t("Completed") },
  EXITED: { tone: "neutral", label: t("Exited") },
  FAILED: { tone: "bad", label: t("Failed") },
  CANCELLED: { tone: "neutral", label: t("Canceled") },
};

export function ContactWorkflows({ projectId, id }: { projectId: string; id: string }) {
  const list = usePages(
    endpointKey(api.contacts.executions, { projectId, params: { id } }),
    async ({ query: { limit, cursor = "1" }, signal }) => {
      const query = { page: cursor, pageSize: limit };
      const { data, page, totalPages } = await call(api.contacts.executions, {
        projectId,
        params: { id },
        query,
        signal,
      });
      return { data, cursor: page < totalPages ? String(page + 1) : null };
    },
  );
  if (list.isError) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <>
      <Card>
        {list.rows === undefined && <Skeleton className="m-5 h-20" />}
        {list.rows?.length === 0 && (
          <Empty title={t("Not in a workflow yet")}>
            {t("The workflows that this contact enters appear here.")}
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {list.rows?.map((execution) => (
            <li key={execution.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3 text-sm">
              <div className="min-w-40 flex-1">
                <p className="truncate font-medium">
                  <bdi>{execution.workflow.name}</bdi>
                </p>
                <p className="text-soft">{statusOf(execution)}</p>
              </div>
              <Badge tone={STATUSES[execution.status].tone}>{STATUSES[execution.status].label}</Badge>
              <time dateTime={execution.startedAt} className="text-faint">
                {formatInstant(execution.startedAt)}
              </time>
            </li>
          ))}
        </ul>
      </Card>
      <More count="" list={list} />
    </>
  );
}

/** Returns the current step and its wait, or why the execution ended. */
function statusOf({ currentStep, waitsFor, nextAt, exitReason, completedAt }: Execution): string {
  const step = currentStep?.name ?? "";
  if (exitReason !== null && exitReason !== "") return exitReason;
  if (completedAt !== null) return t("Ended {when}", { when: formatInstant(completedAt) });
  if (waitsFor !== null) return t("{step} · waiting for {event}", { step, event: waitsFor });
  if (nextAt !== null) return t("{step} · continues {when}", { step, when: formatInstant(nextAt) });
  return step;
}
