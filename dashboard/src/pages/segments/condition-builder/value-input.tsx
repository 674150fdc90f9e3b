// What a condition compares with, in the form its operator takes.
import { FILTER_UNITS, type FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { FilterCondition, FilterScalar } from "@postloft/contract/filters.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { formOf } from "./tree.ts";
import { UNITS } from "./words.ts";

interface ValueInputProps {
  condition: FilterCondition;
  onChange: (condition: FilterCondition) => void;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number or a truth value where it reads as one and nothing else could be meant; else the text. */
function scalarOf(text: string): FilterScalar {
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) && String(Number(text)) === text ? Number(text) : text;
}

export function ValueInput({ condition, onChange }: ValueInputProps) {
  const form = formOf(condition);
  const { value } = condition;
  const set = (changed: FilterScalar | FilterScalar[]) => onChange({ ...condition, value: changed });
  switch (form) {
    case "none":
      return null;
    case "boolean":
      return (
        <select
          aria-label={t("Value")}
          value={String(value)}
          onChange={({ target }) => set(target.value === "true")}
          className={`${INPUT_CLASS} max-w-28`}
        >
          <option value="true">{t("yes")}</option>
          <option value="false">{t("no")}</option>
        </select>
      );
    case "texts":
    case "scalars":
      return <Several value={value} onChange={set} isText={form === "texts"} />;
    case "span":
      return <Span condition={condition} onChange={onChange} />;
    case "count":
      return <Count condition={condition} onChange={onChange} />;
    default:
      return (
        <input
          aria-label={t("Value")}
          value={value === undefined ? "" : String(value)}
          placeholder={form === "date" ? "2026-01-31" : form === "order" ? "10" : ""}
          onChange={({ target }) =>
            set(form === "scalar" || form === "order" ? scalarOf(target.value) : target.value)
          }
          className={`${INPUT_CLASS} max-w-56`}
        />
      );
  }
}

interface SeveralProps {
  value: FilterCondition["value"];
  isText: boolean;
  onChange: (value: FilterScalar[]) => void;
}

/** One value a line. */
function Several({ value, isText, onChange }: SeveralProps) {
  const lines = Array.isArray(value) ? value.map(String) : [];
  return (
    <textarea
      aria-label={t("Values, one per line")}
      placeholder={t("One per line")}
      rows={Math.min(6, Math.max(2, lines.length))}
      defaultValue={lines.join("\n")}
      onChange={({ target }) => {
        const texts = target.value.split("\n").filter((line) => line !== "");
        onChange(isText ? texts : texts.map(scalarOf));
      }}
      className="w-full max-w-56 rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-sm focus:border-accent focus:ring-3 focus:ring-accent-wash focus:outline-none"
    />
  );
}

function UnitSelect({ unit, onChange }: { unit: FilterUnit; onChange: (unit: FilterUnit) => void }) {
  return (
    <select
      aria-label={t("Unit")}
      value={unit}
      onChange={({ target }) => onChange(target.value as FilterUnit)}
      className={`${INPUT_CLASS} max-w-28`}
    >
      {FILTER_UNITS.map((one) => (
        <option key={one} value={one}>
          {UNITS[one]}
        </option>
      ))}
    </select>
  );
}

function Span({ condition, onChange }: ValueInputProps) {
  return (
    <span className="flex gap-2">
      <input
        aria-label={t("How many")}
        type="number"
        min={1}
        value={String(condition.value ?? "")}
        onChange={({ target }) =>
          onChange({ ...condition, value: target.value === "" ? "" : Number(target.value) })
        }
        className={`${INPUT_CLASS} max-w-20`}
      />
      <UnitSelect unit={condition.unit ?? "days"} onChange={(unit) => onChange({ ...condition, unit })} />
    </span>
  );
}

const DEFAULT_WINDOW = 30;

/** Of an event: at least so many times, and within so long, where one says so. */
function Count({ condition, onChange }: ValueInputProps) {
  const { value, window, unit, ...rest } = condition;
  const times = value === undefined ? {} : { value };
  return (
    <span className="flex flex-wrap items-center gap-2">
      <input
        aria-label={t("At least how many times")}
        type="number"
        min={1}
        placeholder="1"
        value={value === undefined ? "" : String(value)}
        onChange={({ target }) => {
          const span = window === undefined || unit === undefined ? {} : { window, unit };
          onChange({ ...rest, ...(target.value === "" ? {} : { value: Number(target.value), ...span }) });
        }}
        className={`${INPUT_CLASS} max-w-20`}
      />
      <span className="text-sm text-soft">{t("times or more")}</span>
      {window === undefined || unit === undefined ? (
        <button
          type="button"
          onClick={() => onChange({ ...rest, value: value ?? 1, window: DEFAULT_WINDOW, unit: "days" })}
          className="min-h-6 rounded-sm text-sm text-accent hover:underline"
        >
          {t("within …")}
        </button>
      ) : (
        <>
          <input
            aria-label={t("Within how many")}
            type="number"
            min={1}
            value={window}
            onChange={({ target }) => onChange({ ...rest, ...times, unit, window: Number(target.value) })}
            className={`${INPUT_CLASS} max-w-20`}
          />
          <UnitSelect
            unit={unit}
            onChange={(chosen) => onChange({ ...rest, ...times, window, unit: chosen })}
          />
        </>
      )}
    </span>
  );
}
