// The contacts of a project: search, filter and order stand in the URL, the server pages. After it: contact-page.tsx.
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download, FileUp, Plus } from "lucide-react";
import { useState } from "react";
import type { z } from "zod";
import type { contact } from "@postloft/contract/contacts.ts";
import { call, download } from "../../api/call.ts";
import { exportContacts, listContacts } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { formatDay } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, SortButton, Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useProject } from "../project-shell.tsx";
import { BulkBar, BulkJob } from "./bulk-bar.tsx";
import { ContactFilters } from "./contact-filters.tsx";
import { NewContactDialog } from "./new-contact-dialog.tsx";
import { fieldsOf, readContactsSearch, type ContactsChange, type ContactsSearch } from "./search.ts";
import { useSelection, type Selection } from "./selection.ts";

const route = getRouteApi("/signed-in/$projectId/contacts");
type Contact = z.output<typeof contact>;

function queryOf({ status, segment, job: _job, fields: _fields, ...rest }: ContactsSearch) {
  const subscribed = status === "subscribed" ? ("true" as const) : ("false" as const);
  return {
    ...rest,
    ...(segment === undefined ? {} : { segmentId: segment }),
    ...(status === undefined ? {} : { subscribed }),
  };
}

export function ContactsPage() {
  const project = useProject();
  const search = route.useSearch();
  const [isAdding, setAdding] = useState(false);
  const list = useList(["project", project.id, "contacts", queryOf(search)], ({ query, signal }) =>
    call(listContacts, { projectId: project.id, query: { ...queryOf(search), ...query }, signal }),
  );
  const { total = 0 } = list;
  const selection = useSelection(search, list.rows?.map(({ id }) => id) ?? [], total);
  const columns = useColumns(selection);
  const change = useSearchChange();
  const isFiltered = [search.search, search.status, search.segment].some((one) => one !== undefined);
  return (
    <Page
      title={t("Contacts")}
      about={t("Everybody this project may write to.")}
      actions={<Actions projectId={project.id} search={search} onAdd={() => setAdding(true)} />}
    >
      {search.job !== undefined && (
        <BulkJob projectId={project.id} jobId={search.job} onClose={() => change({ job: undefined })} />
      )}
      <ContactFilters projectId={project.id} search={search} onChange={change} />
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <NoContacts isFiltered={isFiltered} onAdd={() => setAdding(true)} />
          ) : (
            <Table
              label={t("Contacts")}
              columns={columns}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <BulkBar projectId={project.id} selection={selection} onStarted={(job) => change({ job })} />
      <More count={total > 0 ? plural(total, "{n} contact", "{n} contacts") : ""} list={list} />
      {isAdding && <NewContactDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Page>
  );
}

interface ActionsProps {
  projectId: string;
  search: ContactsSearch;
  onAdd: () => void;
}

function Actions({ projectId, search, onAdd }: ActionsProps) {
  const toast = useToast();
  const { sort: _sort, dir: _dir, ...filter } = queryOf(search);
  const exporting = useMutation({
    mutationFn: () => download(exportContacts, { projectId, query: filter }, "contacts.csv"),
    onError: (error) => toast(t("Nothing was exported"), error.message),
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

/** Changes what the URL says; what becomes undefined leaves it. */
function useSearchChange() {
  const navigate = route.useNavigate();
  return (change: ContactsChange, replace = false) =>
    void navigate({ search: (old) => readContactsSearch({ ...old, ...change }), replace });
}

function useColumns(selection: Selection): Array<Column<Contact>> {
  const search = route.useSearch();
  const { sort = "createdAt", dir } = search;
  const { projectId } = route.useParams();
  const change = useSearchChange();
  const orderBy = (column: "email" | "createdAt", label: string) => {
    const usual = column === "email" ? "asc" : "desc";
    const order = sort === column ? (dir ?? usual) : undefined;
    const next = order === undefined ? usual : order === "asc" ? "desc" : "asc";
    const onSort = () => change({ sort: column === "email" ? column : undefined, dir: next });
    return {
      head: <SortButton label={label} order={order} onSort={onSort} />,
      sorted: order === undefined ? undefined : order === "asc" ? "ascending" : "descending",
    } as const;
  };
  return [
    {
      key: "choice",
      head: (
        <Tick
          label={t("Choose all that are shown")}
          isOn={selection.isShownChosen}
          onChange={selection.toggleShown}
        />
      ),
      width: "w-12",
      cell: ({ id, email }) => (
        <Tick
          label={t("Choose {email}", { email })}
          isOn={selection.has(id)}
          onChange={() => selection.toggle(id)}
        />
      ),
    },
    {
      key: "email",
      ...orderBy("email", t("Address")),
      cell: ({ id, email }) => (
        <Link to="/$projectId/contacts/$contactId" params={{ projectId, contactId: id }} className={ROW_LINK}>
          <bdi>{email}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      head: t("Status"),
      width: "w-36",
      cell: ({ subscribed }) => <SubscriptionBadge isSubscribed={subscribed} />,
    },
    ...fieldsOf(search).map((name) => ({
      key: `data.${name}`,
      head: <bdi>{name}</bdi>,
      width: "w-36",
      cell: ({ data }: Contact) => <bdi>{shownValue(data[name])}</bdi>,
    })),
    {
      key: "createdAt",
      ...orderBy("createdAt", t("Added")),
      width: "w-36",
      cell: ({ createdAt }) => <span className="text-soft tabular-nums">{formatDay(createdAt)}</span>,
    },
  ];
}

/** As it was stored: a number is no text. */
function shownValue(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface TickProps {
  label: string;
  isOn: boolean;
  onChange: () => void;
}

function Tick({ label, isOn, onChange }: TickProps) {
  return (
    <label className="relative z-1 -my-1.5 grid size-6 cursor-pointer place-items-center">
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
        onChange={onChange}
        className="size-4 accent-accent-fill"
      />
    </label>
  );
}

export function SubscriptionBadge({ isSubscribed }: { isSubscribed: boolean }) {
  return (
    <Badge tone={isSubscribed ? "good" : "neutral"}>
      {isSubscribed ? t("Subscribed") : t("Unsubscribed")}
    </Badge>
  );
}

function NoContacts({ isFiltered, onAdd }: { isFiltered: boolean; onAdd: () => void }) {
  const navigate = route.useNavigate();
  if (isFiltered)
    return (
      <Empty
        title={t("Nobody matches")}
        action={<Button onClick={() => void navigate({ search: {} })}>{t("Clear filters")}</Button>}
      >
        {t("No contact fits the search and the filter together.")}
      </Empty>
    );
  return (
    <Empty
      title={t("Nobody here yet")}
      action={
        <Button look="primary" onClick={onAdd}>
          {t("Add a contact")}
        </Button>
      }
    >
      {t(
        "A contact is an address with your own data. Contacts also appear by themselves when your program sends or tracks.",
      )}
    </Empty>
  );
}
