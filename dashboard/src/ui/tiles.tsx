// A row of key figures. The columns divide the number of tiles, so that the grid has no hole.
import type { ReactNode } from "react";

export interface Tile {
  label: string;
  value: string;
  /** Text below the number, such as its base or previous value. */
  note?: ReactNode;
}

const GRID =
  "grid gap-px overflow-hidden rounded-lg border border-line bg-surface max-lg:[&>:last-child:nth-child(odd)]:col-span-full";
/** Columns by the number of tiles. */
const COLUMNS: Readonly<Record<number, string>> = {
  1: "grid-cols-1",
  2: "grid-cols-2",
  3: "grid-cols-2 lg:grid-cols-3",
  4: "grid-cols-2 lg:grid-cols-4",
  5: "grid-cols-2 lg:grid-cols-5",
  6: "grid-cols-2 lg:grid-cols-3",
  7: "grid-cols-2 lg:grid-cols-7",
  8: "grid-cols-2 lg:grid-cols-4",
};
const classOf = (count: number) => `${GRID} ${COLUMNS[count] ?? "grid-cols-2 lg:grid-cols-4"}`;
const TILE = "px-2.5 py-3.5 hyphens-auto wrap-anywhere outline outline-line sm:px-4";
const VALUE = "mt-0.5 block text-xl font-semibold tracking-tight tabular-nums";

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl className={classOf(tiles.length)}>
      {tiles.map(({ label, value, note }) => (
        <div key={label} className={TILE}>
          <dt className="text-sm text-soft">{label}</dt>
          <dd className={VALUE}>{value}</dd>
          {note !== undefined && <dd className="text-xs text-faint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

interface ChoiceTilesProps<Value extends string> {
  /** Accessible name of the group. */
  label: string;
  tiles: ReadonlyArray<Tile & { name: Value }>;
  value: Value;
  onChoose: (name: Value) => void;
}

/** Key figures, of which one selects what a chart below shows. */
export function ChoiceTiles<Value extends string>({
  label,
  tiles,
  value,
  onChoose,
}: ChoiceTilesProps<Value>) {
  return (
    <div role="group" aria-label={label} className={classOf(tiles.length)}>
      {tiles.map(({ name, label: head, value: shown, note }) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === value}
          onClick={() => onChoose(name)}
          className={`${TILE} relative text-left transition-colors hover:bg-hover focus-visible:-outline-offset-2 aria-pressed:bg-accent-wash aria-pressed:after:absolute aria-pressed:after:inset-x-0 aria-pressed:after:bottom-0 aria-pressed:after:h-0.5 aria-pressed:after:bg-accent`}
        >
          <span className="text-sm text-soft">{head}</span>
          <span className={VALUE}>{shown}</span>
          {note !== undefined && <span className="block text-xs text-soft">{note}</span>}
        </button>
      ))}
    </div>
  );
}
