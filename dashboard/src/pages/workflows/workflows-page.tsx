// Lists the workflows of a project, newest first.
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Upload } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { endpointKey } from "../../api/query-key.ts";
import { usePages } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatDay, formatNumber, formatShare } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";
import { ImportWorkflowDialog } from "./import-workflow-dialog.tsx";
import { NewWorkflowDialog, SCRATCH } from "./new-workflow-dialog.tsx";
import { NoWorkflows } from "./no-workflows.tsx";
import type { WorkflowsSearch } from "./search.ts";
import { triggerText, type SegmentNames } from "./trigger-text.ts";
import { useSegmentNames } from "./use-segment-names.ts";
import { WorkflowMenu } from "./workflow-actions.tsx";
import { WorkflowFilters } from "./workflow-filters.tsx";
import { StateBadge } from "./workflow-state.tsx";
import type { ListedWorkflow } from "./workflow-queries.ts";

const route = getRouteApi("/signed-in/$projectId/workflows");
const POLL_EVERY_MS = 15_000;

export function WorkflowsPage() {
  const project = useProject();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [startWith, setStartWith] = useState<string | null>(null);
  const [isImporting, setImporting] = useState(false);
  const list = useWorkflows(project.id, search);
  const segments = useSegmentNames(project.id);
  const { total = 0 } = list;
  const isFiltered = Object.keys(search).length > 0;
  const isEmpty = list.rows?.length === 0;
  return (
    <Page
      title={t("Workflows")}
      about={t("Emails and other steps that run when something happens.")}
      actions={
        <>
          <Button onClick={() => setImporting(true)}>
            <Upload size={15} aria-hidden /> {t("Import")}
          </Button>
          <Button look="primary" onClick={() => setStartWith(SCRATCH)}>
            <Plus size={15} aria-hidden /> {t("New workflow")}
          </Button>
        </>
      }
    >
      <WorkflowFilters projectId={project.id} />
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {isEmpty ? (
            <NoWorkflows
              isFiltered={isFiltered}
              onClear={() => void navigate({ search: {} })}
              onAdd={setStartWith}
            />
          ) : (
            <Table
              label={t("Workflows")}
              columns={columnsOf(project.id, segments, list.rows?.[0]?.countedSince)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count={total > 0 ? plural(total, "{n} workflow", "{n} workflows") : ""} list={list} />
      {isImporting && <ImportWorkflowDialog projectId={project.id} onClose={() => setImporting(false)} />}
      {startWith !== null && (
        <NewWorkflowDialog
          projectId={project.id}
          startWith={startWith}
          // The page without workflows lists the starters itself.
          isChosen={isEmpty && !isFiltered}
          onClose={() => setStartWith(null)}
        />
      )}
    </Page>
  );
}

function useWorkflows(projectId: string, search: WorkflowsSearch) {
  return usePages(
    endpointKey(api.workflows.list, { projectId, query: search }),
    async ({ query: { limit, cursor = "1" }, signal }) => {
      const query = { ...search, page: cursor, pageSize: limit };
      const list = await call(api.workflows.list, { projectId, query, signal });
      const { page, totalPages, total, countedSince } = list;
      const data = list.data.map((row) => ({ ...row, countedSince }));
      return { data, total, cursor: page < totalPages ? String(page + 1) : null };
    },
    { pollEveryMs: POLL_EVERY_MS },
  );
}

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;

/** Shows the days that a number covers, which are fewer than 30 in a project with very many executions. */
function HeadOfNumber({ label, countedSince }: { label: string; countedSince: string | undefined }) {
  const isShort =
    countedSince !== undefined && Date.now() - Date.parse(countedSince) < (WINDOW_DAYS - 1) * DAY_MS;
  return (
    <>
      {label}{" "}
      <span className="whitespace-nowrap">
        {isShort ? t("(since {date})", { date: formatDay(countedSince) }) : t("(30 days)")}
      </span>
    </>
  );
}

type Row = ListedWorkflow & { countedSince: string };

function columnsOf(
  projectId: string,
  segments: SegmentNames,
  countedSince: string | undefined,
): Array<Column<Row>> {
  return [
    {
      key: "name",
      onPhone: true,
      head: t("Name"),
      cell: (row) => <NameAndTrigger projectId={projectId} workflow={row} segments={segments} />,
    },
    {
      key: "state",
      onPhone: true,
      head: t("Status"),
      width: "w-40",
      cell: (row) => <StateBadge workflow={row} />,
    },
    {
      key: "active",
      head: t("Inside"),
      width: "w-20",
      align: "end",
      cell: ({ _count: { active } }) => formatNumber(active),
    },
    ...recentColumns(countedSince),
    {
      key: "failed",
      head: t("Failed"),
      width: "w-20",
      align: "end",
      cell: (row) => <Failed projectId={projectId} workflow={row} />,
    },
    {
      key: "actions",
      onPhone: true,
      head: <span className="sr-only">{t("Actions")}</span>,
      width: "w-16",
      align: "end",
      cell: (row) => <WorkflowMenu projectId={projectId} workflow={row} hasSwitches />,
    },
  ];
}

interface NameProps {
  projectId: string;
  workflow: ListedWorkflow;
  segments: SegmentNames;
}

/** In one column, so that the list needs no scrolling on a laptop. */
function NameAndTrigger({ projectId, workflow, segments }: NameProps) {
  const { id, name, folder, tags } = workflow;
  return (
    <>
      <Link
        to="/$projectId/workflows/$workflowId"
        params={{ projectId, workflowId: id }}
        search={{}}
        className={ROW_LINK}
      >
        <bdi>{name}</bdi>
      </Link>
      <span className="block wrap-anywhere whitespace-normal text-soft">
        {triggerText(workflow, segments)}
      </span>
      {folder !== null && <bdi className="block truncate text-faint">{folder}</bdi>}
      {tags.length > 0 && (
        <span className="mt-1 flex flex-wrap gap-1 whitespace-normal">
          {tags.map((tag) => (
            <Badge key={tag} tone="neutral">
              <bdi>{tag}</bdi>
            </Badge>
          ))}
        </span>
      )}
    </>
  );
}

function recentColumns(countedSince: string | undefined): Array<Column<Row>> {
  return [
    {
      key: "entered",
      head: <HeadOfNumber label={t("Entered")} countedSince={countedSince} />,
      width: "w-28",
      align: "end",
      cell: ({ last30Days: { entered } }) => formatNumber(entered),
    },
    {
      key: "completed",
      head: <HeadOfNumber label={t("Completed")} countedSince={countedSince} />,
      width: "w-28",
      align: "end",
      cell: ({ last30Days: { completed } }) => formatNumber(completed),
    },
    {
      key: "goal",
      head: <HeadOfNumber label={t("Goal")} countedSince={countedSince} />,
      width: "w-28",
      align: "end",
      cell: ({ last30Days: { goalRate } }) => (goalRate === null ? "" : formatShare(goalRate)),
    },
  ];
}

/** Links to the failed executions, if there are any. Only recent failures are red, because older ones need no quick reaction. */
function Failed({ projectId, workflow }: { projectId: string; workflow: ListedWorkflow }) {
  const {
    id,
    name,
    _count: { failed, failedLast7Days },
  } = workflow;
  if (failed === 0) return "";
  return (
    <Link
      to="/$projectId/workflows/$workflowId"
      params={{ projectId, workflowId: id }}
      search={{ tab: "executions", status: "FAILED" }}
      aria-label={plural(failed, "{n} failed execution of {name}", "{n} failed executions of {name}", {
        name,
      })}
      className="relative rounded-sm hover:underline"
    >
      <Badge tone={failedLast7Days > 0 ? "bad" : "neutral"}>{formatNumber(failed)}</Badge>
    </Link>
  );
}
