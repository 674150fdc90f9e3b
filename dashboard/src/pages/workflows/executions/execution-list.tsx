// Lists the executions of a workflow, newest first, by status, step and contact.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ExecutionStatus } from "@postloft/contract/workflows/graph.ts";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { endpointKey } from "../../../api/query-key.ts";
import { usePages } from "../../../api/use-list.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { formatInstant } from "../../../ui/format.ts";
import { More } from "../../../ui/more.tsx";
import { Badge, Card } from "../../../ui/page.tsx";
import { SearchBox } from "../../../ui/search-box.tsx";
import { Empty, Failure } from "../../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../../ui/table.tsx";
import { readWorkflowSearch, type WorkflowSearch } from "../search.ts";
import { stepName } from "../steps/step-kinds.ts";
import type { Workflow } from "../workflow-queries.ts";
import { CancelAllButton, FailedStepActions } from "./execution-actions.tsx";
import { FailureGroups } from "./failure-groups.tsx";
import { EXECUTION_STATUSES, progressText, type ListedExecution } from "./execution-status.ts";

const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId");
const POLL_EVERY_MS = 10_000;
/** No contact has this id. */
const NO_CONTACT = "00000000-0000-0000-0000-000000000000";

interface ExecutionListProps {
  projectId: string;
  workflow: Workflow;
}

export function ExecutionList({ projectId, workflow }: ExecutionListProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status, at, contact, cause } = search;
  const list = useExecutions(projectId, workflow.id, search);
  const { total = 0 } = list;
  const isFiltered = status !== undefined || at !== undefined || contact !== undefined || cause !== undefined;
  return (
    <>
      <FailureGroups projectId={projectId} workflowId={workflow.id} />
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Filters workflow={workflow} />
        {at !== undefined && cause === undefined && status === "FAILED" && total > 0 && (
          <FailedStepActions projectId={projectId} workflowId={workflow.id} stepId={at} />
        )}
        {!isFiltered && total > 0 && <CancelAllButton projectId={projectId} workflowId={workflow.id} />}
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <NoExecutions
              isFiltered={isFiltered}
              onClear={() => void navigate({ search: { tab: "executions" } })}
            />
          ) : (
            <Table
              label={t("Executions")}
              columns={columnsOf(projectId)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count={total > 0 ? plural(total, "{n} execution", "{n} executions") : ""} list={list} />
    </>
  );
}

function useExecutions(projectId: string, id: string, { status, at, contact, cause }: WorkflowSearch) {
  const found = useQuery({
    ...query(api.contacts.list, { projectId, query: { search: contact ?? "", limit: "20" } }),
    enabled: contact !== undefined,
  });
  const contactId =
    found.data?.data.find(({ email }) => email === contact?.trim().toLowerCase())?.id ?? NO_CONTACT;
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(at === undefined ? {} : { stepId: at }),
    ...(contact === undefined ? {} : { contactId }),
    ...(cause === undefined ? {} : { cause }),
  };
  return usePages(
    endpointKey(api.executions.list, { projectId, params: { id }, query: filter }),
    async ({ query: { limit, cursor = "1" }, signal }) => {
      const { data, page, totalPages, total } = await call(api.executions.list, {
        projectId,
        params: { id },
        query: { ...filter, page: cursor, pageSize: limit },
        signal,
      });
      return { data, total, cursor: page < totalPages ? String(page + 1) : null };
    },
    { pollEveryMs: POLL_EVERY_MS, enabled: contact === undefined || !found.isPending },
  );
}

function Filters({ workflow }: { workflow: Workflow }) {
  const { status, at, contact } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Record<string, string>) =>
    void navigate({
      search: (old) => readWorkflowSearch({ ...old, cause: undefined, ...changed }),
      replace: true,
    });
  return (
    <>
      <SearchBox
        label={t("Email address of a contact")}
        value={contact ?? ""}
        onSearch={(text) => change({ contact: text.trim() })}
      />
      <select
        aria-label={t("Status")}
        value={status ?? ""}
        onChange={({ target }) => change({ status: target.value })}
        className={`${INPUT_CLASS} sm:max-w-44`}
      >
        <option value="">{t("All statuses")}</option>
        {(Object.keys(EXECUTION_STATUSES) as ExecutionStatus[]).map((one) => (
          <option key={one} value={one}>
            {EXECUTION_STATUSES[one].label}
          </option>
        ))}
      </select>
      <select
        aria-label={t("Step")}
        value={at ?? ""}
        onChange={({ target }) => change({ at: target.value })}
        className={`${INPUT_CLASS} sm:max-w-60`}
      >
        <option value="">{t("All steps")}</option>
        {workflow.steps
          .filter(({ type }) => type !== "TRIGGER")
          .map((step) => (
            <option key={step.id} value={step.id}>
              {stepName(step)}
            </option>
          ))}
      </select>
    </>
  );
}

function columnsOf(projectId: string): Array<Column<ListedExecution>> {
  return [
    {
      key: "contact",
      onPhone: true,
      head: t("Contact"),
      cell: ({ id, workflowId, contact }) => (
        <Link
          to="/$projectId/workflows/$workflowId/executions/$executionId"
          params={{ projectId, workflowId, executionId: id }}
          className={ROW_LINK}
        >
          <bdi>{contact?.email ?? t("Deleted contact")}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      onPhone: true,
      head: t("Status"),
      width: "w-28",
      cell: ({ status }) => (
        <Badge tone={EXECUTION_STATUSES[status].tone}>{EXECUTION_STATUSES[status].label}</Badge>
      ),
    },
    {
      key: "progress",
      head: t("Progress"),
      cell: (row) => <span className="text-soft">{progressText(row)}</span>,
    },
    {
      key: "startedAt",
      head: t("Started"),
      width: "w-52",
      cell: ({ startedAt }) => (
        <time dateTime={startedAt} className="text-soft tabular-nums">
          {formatInstant(startedAt)}
        </time>
      ),
    },
  ];
}

function NoExecutions({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching executions")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("Try another status, step or address.")}
      </Empty>
    );
  return (
    <Empty title={t("No executions yet")}>
      {t("Each contact that enters the workflow has an execution. It shows every step.")}
    </Empty>
  );
}
