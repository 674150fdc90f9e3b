// A line chart, with the same numbers as a table and as a file.
import { useState, type PointerEvent } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { dotsOf, pathOf, scaleEnd, sumOf, type Value } from "./chart-scale.ts";
import { CsvButton } from "./csv-button.tsx";
import { formatNumber, formatPercent } from "./format.ts";

const TONES = {
  accent: { stroke: "stroke-accent", dot: "bg-accent" },
  good: { stroke: "stroke-good", dot: "bg-good" },
  warn: { stroke: "stroke-warn", dot: "bg-warn" },
  bad: { stroke: "stroke-bad", dot: "bg-bad" },
  /** For the previous period. */
  ghost: { stroke: "stroke-faint", dot: "bg-faint" },
};
const LIMIT_TONES = { warn: "border-warn text-warn", bad: "border-bad text-bad" };

export interface Series {
  label: string;
  tone: keyof typeof TONES;
  values: readonly Value[];
  /** The number of the whole period. Default: the sum of counts. */
  total?: string;
}

/** A line at a value, such as the rate at which a project gets a warning. */
export interface Limit {
  label: string;
  value: number;
  tone: keyof typeof LIMIT_TONES;
}

interface LineChartProps {
  label: string;
  /** Name of the points, such as "Day". */
  head: string;
  /** Formatted dates or times. */
  points: readonly string[];
  series: readonly Series[];
  /** All series have this unit. Percentages are between 0 and 100. */
  unit?: "count" | "percent";
  limits?: readonly Limit[];
  /** Whether the chart offers its numbers as a file. */
  hasFile?: boolean;
}

export function LineChart(props: LineChartProps) {
  const { label, points, series, unit = "count", limits = [], hasFile = true } = props;
  const [at, setAt] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const format = unit === "count" ? formatNumber : formatPercent;
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const most = Math.max(0, ...values);
  // A limit stretches the scale only if the values come near it, except the lowest one, which gives them a meaning.
  const lowest = Math.min(...limits.map(({ value }) => value));
  const shown = limits.filter(({ value }) => value === lowest || value <= most * 2);
  const end = scaleEnd(Math.max(most, ...shown.map(({ value }) => value)), unit === "count");
  const totalOf = ({ total, values: own }: Series) =>
    total ?? (unit === "count" ? formatNumber(sumOf(own)) : "");
  const valueOf = ({ values: own }: Series, index: number) => shownValue(own[index], format);
  return (
    <figure aria-label={label}>
      <figcaption className="flex flex-wrap items-baseline gap-x-5 gap-y-1 text-sm">
        {series.map((one) => (
          <span key={one.label} className="inline-flex items-center gap-1.5">
            <span className={`size-2 rounded-full ${TONES[one.tone].dot}`} />
            <span className="text-soft">{one.label}</span>
            <span className="font-medium tabular-nums">{at === null ? totalOf(one) : valueOf(one, at)}</span>
          </span>
        ))}
        <span className="ml-auto text-faint">{at === null ? "" : points[at]}</span>
      </figcaption>
      <Plot
        points={points}
        series={series}
        limits={shown}
        end={end}
        ends={format(end)}
        at={at}
        onPoint={setAt}
      />
      <div className="mt-3 flex flex-wrap gap-1">
        <Button look="quiet" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? t("Hide table") : t("Show table")}
        </Button>
        {hasFile && <CsvButton title={label} rows={() => fileOf(props)} />}
      </div>
      {isTable && <SameAsTable {...props} format={format} />}
    </figure>
  );
}

const shownValue = (value: Value | undefined, format: (value: number) => string) =>
  value == null ? "–" : format(value);

interface PlotProps extends Required<Pick<LineChartProps, "points" | "series" | "limits">> {
  end: number;
  ends: string;
  at: number | null;
  onPoint: (at: number | null) => void;
}

function Plot({ points, series, limits, end, ends, at, onPoint }: PlotProps) {
  const last = Math.max(1, points.length - 1);
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onPoint(Math.min(points.length - 1, Math.max(0, Math.round(((clientX - left) / width) * last))));
  };
  return (
    <div aria-hidden className="mt-4 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-xs text-faint">
      <div className="flex flex-col justify-between text-right tabular-nums">
        <span className="-mt-2">{ends}</span>
        <span className="-mb-2">0</span>
      </div>
      <div
        className="relative h-44 border-b border-line touch-pan-y"
        onPointerMove={point}
        onPointerLeave={() => onPoint(null)}
      >
        <div className="absolute inset-x-0 top-0 border-t border-dashed border-line" />
        <div className="absolute inset-x-0 top-1/2 border-t border-dashed border-line" />
        {limits.map(({ label, value, tone }) => (
          <div
            key={label}
            className={`absolute inset-x-0 border-t border-dashed ${LIMIT_TONES[tone]}`}
            style={{ top: `${100 - (value / end) * 100}%` }}
          >
            <span className="absolute right-0 bottom-0 bg-surface pl-1">{label}</span>
          </div>
        ))}
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
            <g
              key={name}
              fill="none"
              strokeLinejoin="round"
              strokeLinecap="round"
              className={TONES[tone].stroke}
            >
              <path
                d={pathOf(values, end)}
                strokeWidth={2}
                strokeDasharray={tone === "ghost" ? "2 5" : undefined}
                vectorEffect="non-scaling-stroke"
              />
              <path d={dotsOf(values, end)} strokeWidth={6} vectorEffect="non-scaling-stroke" />
            </g>
          ))}
        </svg>
      </div>
      <span />
      <div className="mt-1.5 flex justify-between">
        <span>{points[0]}</span>
        <span>{points.length > 1 ? points.at(-1) : ""}</span>
      </div>
    </div>
  );
}

function SameAsTable({
  label,
  head,
  points,
  series,
  format,
}: LineChartProps & { format: (value: number) => string }) {
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="relative mt-2 max-h-80 overflow-auto rounded-md border border-line text-sm tabular-nums"
    >
      <table className="w-full">
        <caption className="sr-only">{label}</caption>
        <thead className="sticky top-0 bg-surface text-soft">
          <tr>
            <th scope="col" className="px-3 py-2 text-left font-medium">
              {head}
            </th>
            {series.map(({ label: name }) => (
              <th key={name} scope="col" className="px-3 py-2 text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {points.map((point, index) => (
            // The hour before the end of summer time has its names twice.
            <tr key={`${index} ${point}`}>
              <th scope="row" className="px-3 py-1.5 text-left font-normal whitespace-nowrap">
                {point}
              </th>
              {series.map(({ label: name, values }) => (
                <td key={name} className="px-3 py-1.5 text-right">
                  {shownValue(values[index], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function fileOf({ head, points, series }: LineChartProps) {
  return [
    [head, ...series.map(({ label: name }) => name)],
    ...points.map((point, index) => [point, ...series.map(({ values }) => values[index] ?? null)]),
  ];
}
