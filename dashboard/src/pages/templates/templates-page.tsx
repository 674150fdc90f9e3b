// Lists the templates of a project.
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { WithThumbnail } from "../../ui/mail-frame.tsx";
import { More } from "../../ui/more.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";
import { KIND_OPTIONS, KINDS } from "./kinds.ts";
import { NewTemplateDialog } from "./new-template-dialog.tsx";
import { readTemplatesSearch, type TemplatesSearch } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/templates");
type Template = ApiResponse<typeof api.templates.list>["data"][number];

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function TemplatesPage() {
  const project = useProject();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isAdding, setAdding] = useState(false);
  const list = useList(api.templates.list, { projectId: project.id, query: search });
  const change = (
    changed: Record<keyof TemplatesSearch, unknown> | Partial<Record<keyof TemplatesSearch, unknown>>,
  ) =>
    void navigate({
      search: (old) => readTemplatesSearch({ ...old, ...changed }),
      replace: "search" in changed,
    });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title={t("Templates")}
      about={t("Reusable emails for your app, campaigns and workflows.")}
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={15} aria-hidden /> {t("New template")}
        </Button>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <SearchBox
          label={t("Search by name")}
          value={search.search ?? ""}
          onSearch={(text) => change({ search: text })}
        />
        <Choices
          label={t("Type")}
          options={[{ value: "all", label: t("All") }, ...KIND_OPTIONS]}
          value={search.type ?? "all"}
          onChoose={(type) => change({ type })}
        />
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <NoTemplates
              isFiltered={isFiltered}
              onClear={() => void navigate({ search: {} })}
              onAdd={() => setAdding(true)}
            />
          ) : (
            <Table
              label={t("Templates")}
              columns={columnsOf(project.id)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More
        count={
          list.total === undefined || list.total === 0
            ? ""
            : plural(list.total, "{n} template", "{n} templates")
        }
        list={list}
      />
      {isAdding && <NewTemplateDialog project={project} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function columnsOf(projectId: string): Array<Column<Template>> {
  return [
    {
      key: "name",
      onPhone: true,
      head: t("Name"),
      cell: ({ id, name, body }) => (
        <WithThumbnail html={body}>
          <Link
            to="/$projectId/templates/$templateId"
            params={{ projectId, templateId: id }}
            className={ROW_LINK}
          >
            <bdi>{name}</bdi>
          </Link>
        </WithThumbnail>
      ),
    },
    { key: "subject", head: t("Subject"), cell: ({ subject }) => <bdi className="text-soft">{subject}</bdi> },
    {
      key: "locales",
      head: t("Languages"),
      width: "w-36",
      cell: ({ locales }) => <span className="text-soft">{locales.join(", ")}</span>,
    },
    { key: "type", head: t("Type"), width: "w-44", cell: ({ type }) => KINDS[type].label },
    {
      key: "updatedAt",
      onPhone: true,
      head: t("Updated"),
      width: "w-36",
      cell: ({ updatedAt }) => (
        <time dateTime={updatedAt} title={formatInstant(updatedAt)} className="text-soft tabular-nums">
          {formatAgo(updatedAt)}
        </time>
      ),
    },
  ];
}

interface NoTemplatesProps {
  isFiltered: boolean;
  onClear: () => void;
  onAdd: () => void;
}

function NoTemplates({ isFiltered, onClear, onAdd }: NoTemplatesProps) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching templates")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("Try a different search or clear the filters.")}
      </Empty>
    );
  return (
    <Empty
      title={t("No templates yet")}
      action={
        <Button look="primary" onClick={onAdd}>
          {t("Create template")}
        </Button>
      }
    >
      {t("Your app sends the data and you edit the text here, without a deploy.")}
    </Empty>
  );
}
