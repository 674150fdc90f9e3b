// The contacts of a project: search, filter and order stand in the URL, the server pages. After it: contact-page.tsx.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowDown, ArrowUp, Plus, Search } from "lucide-react";
import { useEffect, useState } from "react";
import type { z } from "zod";
import type { contact } from "@postloft/contract/contacts.ts";
import { call } from "../api/call.ts";
import { listContacts } from "../api/endpoints.ts";
import { Button } from "../ui/button.tsx";
import { INPUT_CLASS } from "../ui/field.tsx";
import { formatDay, formatNumber } from "../ui/format.ts";
import { Badge, Card, Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { NewContactDialog } from "./new-contact-dialog.tsx";
import { useProject } from "./project-shell.tsx";

const route = getRouteApi("/signed-in/$projectId/contacts");
const PAGE_SIZE = 50;
const TYPING_PAUSE_MS = 250;
const CELL = "px-4 py-0 h-10";

export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
}
type Contact = z.output<typeof contact>;

/** What of the URL is understood; the rest is left out. */
export function readContactsSearch({ search, status, sort, dir }: Record<string, unknown>): ContactsSearch {
  return {
    ...(typeof search === "string" || typeof search === "number" ? { search: String(search) } : {}),
    ...(status === "subscribed" || status === "unsubscribed" ? { status } : {}),
    ...(sort === "email" ? { sort } : {}),
    ...(dir === "asc" || dir === "desc" ? { dir } : {}),
  };
}

function queryOf({ status, ...rest }: ContactsSearch) {
  return status === undefined
    ? rest
    : ({ ...rest, subscribed: status === "subscribed" ? "true" : "false" } as const);
}

export function ContactsPage() {
  const project = useProject();
  const search = route.useSearch();
  const [isAdding, setAdding] = useState(false);
  const contacts = useInfiniteQuery({
    queryKey: ["project", project.id, "contacts", search],
    queryFn: ({ pageParam, signal }) =>
      call(listContacts, {
        projectId: project.id,
        query: {
          ...queryOf(search),
          limit: String(PAGE_SIZE),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    placeholderData: keepPreviousData,
  });
  const isFiltered = search.search !== undefined || search.status !== undefined;
  const rows = contacts.data?.pages.flatMap(({ data }) => data);
  const total = contacts.data?.pages[0]?.total;
  const add = (
    <Button look="primary" onClick={() => setAdding(true)}>
      <Plus size={15} aria-hidden /> Add contact
    </Button>
  );
  return (
    <Page title="Contacts" about="Everybody this project may write to." actions={add}>
      <Filters />
      {contacts.isError && <Failure error={contacts.error} onRetry={() => void contacts.refetch()} />}
      {!contacts.isError && (
        <Card className="overflow-hidden">
          {rows?.length === 0 ? (
            <NoContacts isFiltered={isFiltered} onAdd={() => setAdding(true)} />
          ) : (
            <ContactTable rows={rows} isStale={contacts.isPlaceholderData} />
          )}
        </Card>
      )}
      <footer className="mt-3 flex min-h-8 items-center justify-between text-sm text-soft">
        <span aria-live="polite">
          {total !== undefined &&
            total > 0 &&
            `${formatNumber(total)} ${total === 1 ? "contact" : "contacts"}`}
        </span>
        {contacts.hasNextPage && (
          <Button busy={contacts.isFetchingNextPage} onClick={() => void contacts.fetchNextPage()}>
            Show more
          </Button>
        )}
      </footer>
      {isAdding && <NewContactDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Filters() {
  const { search, status } = route.useSearch();
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(search ?? "");
  useEffect(() => setTyped(search ?? ""), [search]);
  useEffect(() => {
    if (typed === (search ?? "")) return undefined;
    const timer = setTimeout(
      () =>
        void navigate({
          to: "/$projectId/contacts",
          params: { projectId },
          search: ({ search: _old, ...rest }) =>
            readContactsSearch({ ...rest, ...(typed === "" ? {} : { search: typed }) }),
          replace: true,
        }),
      TYPING_PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [typed, search, projectId, navigate]);
  const choices = [
    { label: "All", value: undefined },
    { label: "Subscribed", value: "subscribed" },
    { label: "Unsubscribed", value: "unsubscribed" },
  ] as const;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      <div className="relative w-full max-w-72">
        <Search size={14} className="absolute top-2.25 left-2.5 text-faint" aria-hidden />
        <input
          type="search"
          aria-label="Search by address"
          placeholder="Search by address"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className={`${INPUT_CLASS} pl-8`}
        />
      </div>
      <div className="flex gap-0.5" role="group" aria-label="Subscription">
        {choices.map(({ label, value }) => (
          <Link
            key={label}
            to="/$projectId/contacts"
            params={{ projectId }}
            search={({ status: _old, ...rest }) =>
              readContactsSearch({ ...rest, ...(value === undefined ? {} : { status: value }) })
            }
            aria-current={status === value ? "true" : undefined}
            className={`inline-flex h-8 items-center rounded-md px-3 text-sm font-medium transition-colors ${status === value ? "bg-press text-ink" : "text-soft hover:bg-hover hover:text-ink"}`}
          >
            {label}
          </Link>
        ))}
      </div>
    </div>
  );
}

function ContactTable({ rows, isStale }: { rows: readonly Contact[] | undefined; isStale: boolean }) {
  return (
    <div className={`overflow-x-auto transition-opacity ${isStale ? "opacity-60" : ""}`}>
      <table
        className="w-full min-w-130 table-fixed text-left text-sm"
        aria-busy={rows === undefined || isStale}
      >
        <thead className="border-b border-line text-soft">
          <tr>
            <SortedHead column="email" label="Address" />
            <th className={`${CELL} w-36 font-medium`}>Status</th>
            <SortedHead column="createdAt" label="Added" width="w-36" />
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows === undefined
            ? Array.from({ length: 8 }, (_unused, row) => <SkeletonRow key={row} />)
            : rows.map((row) => <ContactRow key={row.id} contact={row} />)}
        </tbody>
      </table>
    </div>
  );
}

function SortedHead({
  column,
  label,
  width = "",
}: {
  column: "email" | "createdAt";
  label: string;
  width?: string;
}) {
  const { sort = "createdAt", dir } = route.useSearch();
  const { projectId } = route.useParams();
  const isSorted = sort === column;
  const usual = column === "email" ? "asc" : "desc";
  const now = dir ?? usual;
  const next = isSorted ? (now === "asc" ? "desc" : "asc") : usual;
  const Arrow = now === "asc" ? ArrowUp : ArrowDown;
  return (
    <th
      className={`${CELL} ${width} font-medium`}
      aria-sort={isSorted ? (now === "asc" ? "ascending" : "descending") : undefined}
    >
      <Link
        to="/$projectId/contacts"
        params={{ projectId }}
        search={(old) => readContactsSearch({ ...old, sort: column, dir: next })}
        className="inline-flex items-center gap-1 rounded-sm hover:text-ink"
      >
        {label}
        {isSorted && <Arrow size={12} aria-hidden />}
      </Link>
    </th>
  );
}

function ContactRow({ contact: { id, email, subscribed, createdAt } }: { contact: Contact }) {
  const { projectId } = route.useParams();
  return (
    <tr className="relative transition-colors hover:bg-hover has-focus-visible:bg-hover">
      <td className={`${CELL} truncate font-medium`}>
        <Link
          to="/$projectId/contacts/$contactId"
          params={{ projectId, contactId: id }}
          className="outline-none after:absolute after:inset-0"
        >
          <bdi>{email}</bdi>
        </Link>
      </td>
      <td className={CELL}>
        <Badge tone={subscribed ? "good" : "neutral"}>{subscribed ? "Subscribed" : "Unsubscribed"}</Badge>
      </td>
      <td className={`${CELL} text-soft tabular-nums`}>{formatDay(createdAt)}</td>
    </tr>
  );
}

function SkeletonRow() {
  return (
    <tr>
      <td className={CELL}>
        <Skeleton className="h-3.5 w-52" />
      </td>
      <td className={CELL}>
        <Skeleton className="h-4 w-20" />
      </td>
      <td className={CELL}>
        <Skeleton className="h-3.5 w-20" />
      </td>
    </tr>
  );
}

function NoContacts({ isFiltered, onAdd }: { isFiltered: boolean; onAdd: () => void }) {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  if (isFiltered)
    return (
      <Empty
        title="Nobody matches"
        action={
          <Button
            onClick={() => void navigate({ to: "/$projectId/contacts", params: { projectId }, search: {} })}
          >
            Clear filters
          </Button>
        }
      >
        No contact fits the search and the filter together.
      </Empty>
    );
  return (
    <Empty
      title="Nobody here yet"
      action={
        <Button look="primary" onClick={onAdd}>
          Add a contact
        </Button>
      }
    >
      A contact is an address with your own data. Contacts also appear by themselves when your program sends
      or tracks.
    </Empty>
  );
}
