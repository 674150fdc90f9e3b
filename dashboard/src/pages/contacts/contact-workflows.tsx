// Lists a contact's current and past workflows, newest first.
import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { usePages } from "../../api/use-list.ts";
import { endpointKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { EXECUTION_STATUSES, progressText } from "../workflows/executions/execution-status.ts";

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
                  <Link
                    to="/$projectId/workflows/$workflowId/executions/$executionId"
                    params={{ projectId, workflowId: execution.workflowId, executionId: execution.id }}
                    className="hover:underline"
                  >
                    <bdi>{execution.workflow.name}</bdi>
                  </Link>
                </p>
                <p className="text-soft">{progressText(execution)}</p>
              </div>
              <Badge tone={EXECUTION_STATUSES[execution.status].tone}>
                {EXECUTION_STATUSES[execution.status].label}
              </Badge>
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
