// Lists the contacts of a project. Search, filter and order are in the URL, and the server paginates.
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download, FileUp, Plus } from "lucide-react";
import { lazy, Suspense, useState, type ComponentProps } from "react";
import { download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { More } from "../../ui/more.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useProject } from "../project-shell.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkJob } from "./bulk-job.tsx";
import { useColumns, useSearchChange } from "./contact-columns.tsx";
import { ContactCount } from "./contact-count.tsx";
import { ContactFilters } from "./contact-filters.tsx";
import { ContactViews } from "./contact-views.tsx";
import { NewContactDialog } from "./new-contact-dialog.tsx";
import { queryOf, useContacts } from "./contact-list.ts";
import type { ContactsSearch } from "./search.ts";
import { useSelection } from "./selection.ts";

const route = getRouteApi("/signed-in/$projectId/contacts");

const ContactConditions = lazy(async () => ({
  default: (await import("./contact-conditions.tsx")).ContactConditions,
}));

export function ContactsPage() {
  const project = useProject();
  const search = route.useSearch();
  const [isAdding, setAdding] = useState(false);
  const list = useContacts(project.id, search);
  const { total = 0 } = list;
  const selection = useSelection(search, list.rows?.map(({ id }) => id) ?? [], total);
  const columns = useColumns(selection);
  const change = useSearchChange();
  const isFiltered = [search.search, search.status, search.segment, search.filter].some(
    (one) => one !== undefined,
  );
  return (
    <Page
      title={t("Contacts")}
      about={t("Everyone you can email.")}
      actions={<Actions projectId={project.id} search={search} onAdd={() => setAdding(true)} />}
    >
      {search.job !== undefined && (
        <BulkJob
          key={search.job}
          projectId={project.id}
          jobId={search.job}
          onUndo={(job) => change({ job })}
          onClose={() => change({ job: undefined })}
        />
      )}
      <ContactViews projectId={project.id} search={search} />
      <Narrowing projectId={project.id} search={search} list={list} onChange={change} />
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 && list.lookedAt === null ? (
            <NoContacts isFiltered={isFiltered} onAdd={() => setAdding(true)} />
          ) : (
            <Table
              label={t("Contacts")}
              columns={columns}
              rows={list.rows?.length === 0 ? undefined : list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <BulkBar
        projectId={project.id}
        selection={selection}
        list={list}
        onStarted={(job) => change({ job })}
      />
      <More
        count={(list.rows?.length !== 0 || list.lookedAt !== null) && <ContactCount list={list} />}
        list={list}
      />
      {isAdding && <NewContactDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Page>
  );
}

interface NarrowingProps extends Pick<ComponentProps<typeof ContactConditions>, "list" | "onChange"> {
  projectId: string;
  search: ContactsSearch;
}

/** Filters of the list, with the filter builder below. */
function Narrowing({ projectId, search, list, onChange }: NarrowingProps) {
  const [isBuilding, setBuilding] = useState(false);
  const shared = { projectId, onChange };
  return (
    <>
      <ContactFilters {...shared} search={search} isBuilding={isBuilding} onBuild={setBuilding} />
      {(isBuilding || search.filter !== undefined) && (
        <Suspense fallback={<Skeleton className="mb-3 h-10.5" />}>
          <ContactConditions
            {...shared}
            filter={search.filter}
            list={list}
            isOpen={isBuilding}
            onOpen={setBuilding}
          />
        </Suspense>
      )}
    </>
  );
}

interface ActionsProps {
  projectId: string;
  search: ContactsSearch;
  onAdd: () => void;
}

function Actions({ projectId, search, onAdd }: ActionsProps) {
  const toast = useToast();
  const { sort: _sort, dir: _dir, ...narrow } = queryOf(search);
  const filters = search.filter === undefined ? {} : { filters: JSON.stringify(search.filter) };
  const exporting = useMutation({
    mutationFn: () =>
      download(api.contacts.exportAll, { projectId, query: { ...narrow, ...filters } }, "contacts.csv"),
    onError: (error) => toast(t("Couldn't export"), error.message),
  });
  return (
    <>
      <Button look="quiet" busy={exporting.isPending} onClick={() => exporting.mutate()}>
        <Download size={15} aria-hidden /> {t("Export")}
      </Button>
      <Link
        to="/$projectId/contacts/import"
        params={{ projectId }}
        search={{}}
        className={buttonClass("plain")}
      >
        <FileUp size={15} aria-hidden /> {t("Import")}
      </Link>
      <Button look="primary" onClick={onAdd}>
        <Plus size={15} aria-hidden /> {t("Add contact")}
      </Button>
    </>
  );
}

function NoContacts({ isFiltered, onAdd }: { isFiltered: boolean; onAdd: () => void }) {
  const navigate = route.useNavigate();
  if (isFiltered)
    return (
      <Empty
        title={t("No matching contacts")}
        action={<Button onClick={() => void navigate({ search: {} })}>{t("Clear filters")}</Button>}
      >
        {t("Try a different search or clear the filters.")}
      </Empty>
    );
  return (
    <Empty
      title={t("No contacts yet")}
      action={
        <Button look="primary" onClick={onAdd}>
          {t("Add your first contact")}
        </Button>
      }
    >
      {t("Add contacts here or import a file. We also add people when your app emails or tracks them.")}
    </Empty>
  );
}
