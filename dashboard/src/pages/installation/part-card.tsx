// A card for one part of the installation, with its empty and slow states.
import type { ReactNode } from "react";
import { t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { Table, type Column } from "../../ui/table.tsx";

interface PartCardProps {
  title: string;
  about?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function PartCard({ title, about, actions, children }: PartCardProps) {
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <div className="min-w-0">
          <h2 className="font-semibold">{title}</h2>
          {about !== undefined && <p className="text-sm text-soft">{about}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </Card>
  );
}

export function Note({ children }: { children: ReactNode }) {
  return <p className="px-5 py-4 text-sm text-soft">{children}</p>;
}

/** Says that the server gave up reading a part, because its statement took too long. */
export function TooSlow() {
  return <Note>{t("Reading this took too long. Refresh to try again.")}</Note>;
}

interface TableCardProps<Row> extends Omit<PartCardProps, "children"> {
  columns: ReadonlyArray<Column<Row>>;
  /** Null if reading them took too long. */
  rows: readonly Row[] | null;
  rowKey: (row: Row) => string;
  /** Shown if there are no rows. */
  empty: string;
}

/** A card with a table. */
export function TableCard<Row>({ columns, rows, rowKey, empty, ...card }: TableCardProps<Row>) {
  return (
    <PartCard {...card}>
      {rows === null ? (
        <TooSlow />
      ) : rows.length === 0 ? (
        <Note>{empty}</Note>
      ) : (
        <Table label={card.title} columns={columns} rows={rows} rowKey={rowKey} />
      )}
    </PartCard>
  );
}
