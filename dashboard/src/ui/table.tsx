// A table with loading placeholders. On phones it shows the columns that matter, and otherwise scrolls horizontally inside its frame.
import { ArrowDown, ArrowUp } from "lucide-react";
import { memo, type CSSProperties, type ReactNode } from "react";
import { Skeleton } from "./states.tsx";

const CELL = "h-10 px-4 py-1.5";
const SKELETON_ROWS = 8;
/** Minimum width of a column without a width class. */
const FREE_COLUMN_REM = 12;
const FREE_COLUMN_ON_PHONE_REM = 8;
/** The size of a Tailwind width step, so `w-36` is 9 rem. */
const REM_PER_STEP = 0.25;
/** Horizontal padding of a cell. */
const CELL_EDGES_REM = 2;
/** Upper bound for the average width of a letter in a header, which is small and medium-weight. */
const LETTER_REM = 0.48;
/** Makes a link cover the whole row. Other controls in the row are `relative` so that they stay on top. */
export const ROW_LINK = "font-medium outline-none after:absolute after:inset-0";

export interface Column<Row> {
  key: string;
  head: ReactNode;
  /** Minimum width as a class such as `w-36`; longer header texts widen the column. Columns without one share the rest. */
  width?: string;
  align?: "end";
  sorted?: "ascending" | "descending" | undefined;
  /** Whether phones show it. If no column says so, they show all. */
  onPhone?: boolean;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: ReadonlyArray<Column<Row>>;
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  /** Whether the rows still belong to the previous query. */
  isStale?: boolean;
}

export function Table<Row>({ label, columns, rows, rowKey, isStale = false }: TableProps<Row>) {
  const isBusy = rows === undefined || isStale;
  const matter = columns.filter(({ onPhone }) => onPhone === true);
  const hiddenOn = hiddenOf(columns);
  const widths = {
    "--narrow": `${matter.length === 0 ? minWidthOf(columns) : minWidthOf(matter, FREE_COLUMN_ON_PHONE_REM)}rem`,
    "--wide": `${minWidthOf(columns)}rem`,
  } as CSSProperties;
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className={`relative overflow-x-auto transition-opacity focus-visible:-outline-offset-2 ${isStale ? "opacity-60" : ""}`}
    >
      <table
        className="w-full min-w-(--narrow) table-fixed text-left text-sm sm:min-w-(--wide)"
        style={widths}
        aria-busy={isBusy}
      >
        <thead className="border-b border-line text-soft">
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                aria-sort={column.sorted}
                style={{ width: isFree(column) ? undefined : `${widthOf(column)}rem` }}
                className={`h-10 px-4 py-1.5 font-medium ${hiddenOn(column)} ${column.align === "end" ? "text-right" : ""}`}
              >
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows === undefined
            ? Array.from({ length: SKELETON_ROWS }, (_unused, at) => (
                <SkeletonRow key={at} columns={columns} />
              ))
            : rows.map((row) => <Row key={rowKey(row)} row={row} columns={columns} />)}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<Item> {
  row: Item;
  columns: ReadonlyArray<Column<Item>>;
}

/** Renders again only if its item or a cell renderer changes; headers may change on every click. */
const Row = memo(function Row<Item>({ row, columns }: RowProps<Item>) {
  const hiddenOn = hiddenOf(columns);
  return (
    <tr className="relative transition-colors hover:bg-hover has-focus-visible:bg-hover">
      {columns.map((column) => (
        <td
          key={column.key}
          className={`${CELL} truncate ${hiddenOn(column)} ${column.align === "end" ? "text-right tabular-nums" : ""}`}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}, isSameRow) as <Item>(props: RowProps<Item>) => ReactNode;

function isSameRow(before: RowProps<unknown>, after: RowProps<unknown>): boolean {
  return (
    before.row === after.row &&
    before.columns.length === after.columns.length &&
    before.columns.every(
      ({ key, cell }, at) => after.columns[at]?.key === key && after.columns[at].cell === cell,
    )
  );
}

/** Returns the class of a column that phones don't show. */
function hiddenOf(columns: ReadonlyArray<Pick<Column<never>, "onPhone">>) {
  const isChosen = columns.some(({ onPhone }) => onPhone === true);
  return ({ onPhone }: Pick<Column<never>, "onPhone">) =>
    isChosen && onPhone !== true ? "max-sm:hidden" : "";
}

type Measured = Pick<Column<never>, "head" | "width">;

/** Returns the width in rem below which the table scrolls. */
function minWidthOf(columns: readonly Measured[], freeRem = FREE_COLUMN_REM): number {
  return columns.reduce((sum, column) => sum + (isFree(column) ? freeRem : widthOf(column)), 0);
}

const isFree = ({ width }: Measured) => width === undefined;

/** Returns a column's width in rem such that header words do not overlap the next column. */
function widthOf(column: Measured): number {
  const { head, width = "" } = column;
  if (isFree(column)) return FREE_COLUMN_REM;
  const words = typeof head === "string" ? head.split(" ") : [];
  const longest = Math.max(0, ...words.map((word) => word.length));
  return Math.max(Number(width.replace("w-", "")) * REM_PER_STEP, CELL_EDGES_REM + longest * LETTER_REM);
}

function SkeletonRow<Row>({ columns }: { columns: ReadonlyArray<Column<Row>> }) {
  const hiddenOn = hiddenOf(columns);
  return (
    <tr>
      {columns.map((column) => (
        <td key={column.key} className={`${CELL} ${hiddenOn(column)}`}>
          <Skeleton className="h-3.5 w-3/5" />
        </td>
      ))}
    </tr>
  );
}

interface SortButtonProps {
  label: string;
  /** The current sort order by this column; undefined if sorted by another one. */
  order: "asc" | "desc" | undefined;
  onSort: () => void;
}

/** A column header that sorts the rows. */
export function SortButton({ label, order, onSort }: SortButtonProps) {
  const Arrow = order === "asc" ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={onSort}
      className="inline-flex items-center gap-1 rounded-sm font-medium hover:text-ink"
    >
      {label}
      {order !== undefined && <Arrow size={12} aria-hidden />}
    </button>
  );
}
