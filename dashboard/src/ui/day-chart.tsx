// A line chart of daily numbers, with the same numbers as a table for screen readers.
import { useState, type PointerEvent } from "react";
import { t } from "../text/t.ts";
import { formatDate, formatNumber } from "./format.ts";

const TONES = {
  accent: { stroke: "stroke-accent", dot: "bg-accent" },
  good: { stroke: "stroke-good", dot: "bg-good" },
  warn: { stroke: "stroke-warn", dot: "bg-warn" },
  bad: { stroke: "stroke-bad", dot: "bg-bad" },
};

export interface Series {
  label: string;
  tone: keyof typeof TONES;
  values: readonly number[];
}

interface DayChartProps {
  label: string;
  /** Dates such as 2027-01-31. */
  dates: readonly string[];
  series: readonly Series[];
}

/** Returns the end of the scale: the next of 1, 2 or 5 times a power of ten. */
function scaleEnd(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 5, 10].map((step) => step * power).find((end) => end >= most) ?? most;
}

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function DayChart({ label, dates, series }: DayChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const end = scaleEnd(Math.max(1, ...series.flatMap(({ values }) => values)));
  const last = Math.max(1, dates.length - 1);
  const pathOf = (values: readonly number[]) =>
    values
      .map((value, index) => `${index === 0 ? "M" : "L"}${(index / last) * 100} ${100 - (value / end) * 100}`)
      .join(" ");
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setAt(Math.min(dates.length - 1, Math.max(0, Math.round(((clientX - left) / width) * last))));
  };
  const day = at === null ? undefined : dates[at];
  return (
    <figure aria-label={label}>
      <figcaption className="flex flex-wrap items-baseline gap-x-5 gap-y-1 text-sm">
        {series.map(({ label: name, tone, values }) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span className={`size-2 rounded-full ${TONES[tone].dot}`} />
            <span className="text-soft">{name}</span>
            <span className="font-medium tabular-nums">
              {formatNumber(at === null ? sum(values) : (values[at] ?? 0))}
            </span>
          </span>
        ))}
        <span className="ml-auto text-faint">{day === undefined ? "" : formatDate(day)}</span>
      </figcaption>
      <div aria-hidden className="mt-4 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-xs text-faint">
        <div className="flex flex-col justify-between text-right tabular-nums">
          <span className="-mt-2">{formatNumber(end)}</span>
          <span className="-mb-2">0</span>
        </div>
        <div
          className="relative h-44 border-b border-line touch-pan-y"
          onPointerMove={point}
          onPointerLeave={() => setAt(null)}
        >
          <div className="absolute inset-x-0 top-0 border-t border-dashed border-line" />
          <div className="absolute inset-x-0 top-1/2 border-t border-dashed border-line" />
          {at !== null && (
            <div
              className="absolute inset-y-0 border-l border-line-strong"
              style={{ left: `${(at / last) * 100}%` }}
            />
          )}
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            className="absolute inset-0 size-full overflow-visible"
          >
            {series.toReversed().map(({ label: name, tone, values }) => (
              <path
                key={name}
                d={pathOf(values)}
                fill="none"
                strokeWidth={2}
                strokeLinejoin="round"
                vectorEffect="non-scaling-stroke"
                className={TONES[tone].stroke}
              />
            ))}
          </svg>
        </div>
        <span />
        <div className="mt-1.5 flex justify-between">
          <span>{formatDate(dates[0] ?? "")}</span>
          <span>{formatDate(dates.at(-1) ?? "")}</span>
        </div>
      </div>
      <SameAsTable label={label} dates={dates} series={series} />
    </figure>
  );
}

function SameAsTable({ label, dates, series }: DayChartProps) {
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th>{t("Day")}</th>
            {series.map(({ label: name }) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dates.map((date, index) => (
            <tr key={date}>
              <th>{formatDate(date)}</th>
              {series.map(({ label: name, values }) => (
                <td key={name}>{formatNumber(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
