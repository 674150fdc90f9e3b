// Columns of the contacts table: selection, address and custom fields, sorted by the URL.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { z } from "zod";
import type { contact } from "@postloft/contract/contacts.ts";
import { t } from "../../text/t.ts";
import { formatDay } from "../../ui/format.ts";
import { ROW_LINK, SortButton, type Column } from "../../ui/table.tsx";
import { SubscriptionBadge } from "./subscription-badge.tsx";
import { fieldsOf, readContactsSearch, type ContactsChange } from "./search.ts";
import type { Selection } from "./selection.ts";

const route = getRouteApi("/signed-in/$projectId/contacts");
type Contact = z.output<typeof contact>;

/** Updates search parameters in the URL. `undefined` removes a parameter. */
export function useSearchChange() {
  const navigate = route.useNavigate();
  return (change: ContactsChange, replace = false) =>
    void navigate({ search: (old) => readContactsSearch({ ...old, ...change }), replace });
}

export function useColumns(selection: Selection): Array<Column<Contact>> {
  const search = route.useSearch();
  const { sort = "createdAt", dir } = search;
  const { projectId } = route.useParams();
  const change = useSearchChange();
  const { has, toggle } = selection;
  const cells = useMemo(() => cellsOf(projectId, has, toggle), [projectId, has, toggle]);
  const named = fieldsOf(search).join(",");
  const fields = useMemo(() => fieldsOf({ fields: named }).map(fieldColumn), [named]);
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
      onPhone: true,
      head: (
        <Tick
          label={t("Select all shown")}
          isOn={selection.isShownChosen}
          disabled={!selection.hasShown}
          onChange={selection.toggleShown}
        />
      ),
      width: "w-12",
      cell: cells.choice,
    },
    { key: "email", onPhone: true, ...orderBy("email", t("Email address")), cell: cells.email },
    { key: "status", onPhone: true, head: t("Status"), width: "w-38", cell: cells.status },
    ...fields,
    { key: "createdAt", ...orderBy("createdAt", t("Added")), width: "w-36", cell: cells.createdAt },
  ];
}

type Cell = Column<Contact>["cell"];

function cellsOf(projectId: string, has: Selection["has"], toggle: Selection["toggle"]) {
  return {
    choice: ({ id, email }) => (
      <Tick label={t("Select {email}", { email })} isOn={has(id)} onChange={() => toggle(id)} />
    ),
    email: ({ id, email }) => (
      <Link to="/$projectId/contacts/$contactId" params={{ projectId, contactId: id }} className={ROW_LINK}>
        <bdi>{email}</bdi>
      </Link>
    ),
    status: ({ subscribed }) => <SubscriptionBadge isSubscribed={subscribed} />,
    createdAt: ({ createdAt }) => <span className="text-soft tabular-nums">{formatDay(createdAt)}</span>,
  } satisfies Record<string, Cell>;
}

function fieldColumn(name: string): Column<Contact> {
  return {
    key: `data.${name}`,
    head: <bdi>{name}</bdi>,
    width: "w-36",
    cell: ({ data }) => <bdi>{shownValue(data[name])}</bdi>,
  };
}

/** Returns a value as stored, so that numbers and texts look different. */
function shownValue(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface TickProps {
  label: string;
  isOn: boolean;
  disabled?: boolean;
  onChange: () => void;
}

function Tick({ label, isOn, disabled = false, onChange }: TickProps) {
  return (
    <label className="relative z-1 -my-1.5 grid size-6 cursor-pointer place-items-center">
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
        disabled={disabled}
        onChange={onChange}
        className="size-4 accent-accent-fill"
      />
    </label>
  );
}
