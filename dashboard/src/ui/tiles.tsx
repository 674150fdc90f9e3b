// A row of key figures.
import type { ReactNode } from "react";

export interface Tile {
  label: string;
  value: string;
  /** Text below the number, such as its base or previous value. */
  note?: ReactNode;
}

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl className="grid grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))] gap-px overflow-hidden rounded-lg border border-line bg-surface max-sm:[&>:last-child:nth-child(odd)]:col-span-full">
      {tiles.map(({ label, value, note }) => (
        <div key={label} className="px-4 py-3.5 outline outline-line">
          <dt className="text-sm text-soft">{label}</dt>
          <dd className="mt-0.5 text-xl font-semibold tracking-tight tabular-nums">{value}</dd>
          {note !== undefined && <dd className="text-xs text-faint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
