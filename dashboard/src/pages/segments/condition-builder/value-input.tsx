// Input for a condition's value: a text, number, date, boolean, list or duration. An untouched value stays exactly as the API returned it.
import { FILTER_UNITS, type FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { FilterCondition, FilterScalar } from "@postloft/contract/filters.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { DAY, formOf, type FieldType } from "./condition-tree.ts";
import { UNIT_NAMES } from "./operators.ts";
import { Several, Text } from "./text-values.tsx";

interface ValueInputProps {
  condition: FilterCondition;
  type: FieldType | undefined;
  onChange: (condition: FilterCondition) => void;
}

export function ValueInput({ condition, type, onChange }: ValueInputProps) {
  const { value, ...rest } = condition;
  const change = (next: FilterCondition["value"] | undefined) =>
    onChange(next === undefined ? rest : { ...rest, value: next });
  const form = formOf(condition);
  switch (form) {
    case null:
    case "none":
      return null;
    case "span":
      return (
        <div className="flex gap-1.5">
          <Amount label={t("Duration")} value={value} onChange={change} />
          <UnitSelect unit={condition.unit} onChange={(unit) => onChange({ ...condition, unit })} />
        </div>
      );
    case "daysAhead":
      return <DaysAhead value={value} onChange={change} />;
    case "count":
      return <Count condition={condition} onChange={onChange} />;
    case "texts":
    case "scalars":
      return (
        <Several
          field={condition.field}
          values={Array.isArray(value) ? value : []}
          type={form === "texts" ? "string" : type}
          onChange={change}
        />
      );
    default:
      return (
        <One
          field={condition.field}
          value={Array.isArray(value) ? undefined : value}
          type={
            form === "boolean"
              ? "boolean"
              : form === "text"
                ? "string"
                : form === "date" || form === "day"
                  ? "date"
                  : type
          }
          isOrdered={form === "order"}
          onChange={change}
        />
      );
  }
}

interface OneProps {
  field: string;
  value: FilterScalar | undefined;
  /** The field's type; undefined if no contact has the field yet. */
  type: FieldType | undefined;
  isOrdered: boolean;
  onChange: (value: FilterScalar | undefined) => void;
}

/** The existing value determines the input, then the field, because values compare by their type. */
function One({ field, value, type, isOrdered, onChange }: OneProps) {
  const usual =
    type === undefined || (type === "string" && isOrdered) ? (isOrdered ? "number" : "string") : type;
  const kind =
    value === undefined || value === ""
      ? usual
      : typeof value === "string"
        ? usual === "date"
          ? "date"
          : "string"
        : typeof value;
  if (kind === "boolean")
    return (
      <select
        aria-label={t("Value")}
        value={value === undefined ? "" : String(value)}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value === "true")}
        className={INPUT_CLASS}
      >
        <option value="">{t("Choose…")}</option>
        <option value="true">{t("yes")}</option>
        <option value="false">{t("no")}</option>
      </select>
    );
  if (kind === "number")
    return (
      <input
        type="number"
        step="any"
        aria-label={t("Value")}
        value={typeof value === "number" ? value : ""}
        onChange={({ target }) =>
          onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)
        }
        className={INPUT_CLASS}
      />
    );
  const text = String(value ?? "");
  if (kind === "date" && (text === "" || DAY.test(text)))
    return (
      <input
        type="date"
        aria-label={t("Value")}
        value={text}
        onChange={({ target }) => onChange(target.value)}
        className={INPUT_CLASS}
      />
    );
  return <Text field={field} text={text} onChange={onChange} />;
}

interface AmountProps {
  label: string;
  value: unknown;
  onChange: (value: number | undefined) => void;
}

function Amount({ label, value, onChange }: AmountProps) {
  return (
    <input
      type="number"
      min={1}
      aria-label={label}
      value={typeof value === "number" ? value : ""}
      onChange={({ target }) =>
        onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)
      }
      className={`${INPUT_CLASS} max-w-18`}
    />
  );
}

/** Edits in how many days an anniversary may be. Empty is today. */
function DaysAhead({ value, onChange }: Omit<AmountProps, "label">) {
  return (
    <div className="flex flex-wrap items-center gap-1.5 text-sm text-soft">
      {t("today or in the next")}
      <Amount label={t("Duration")} value={value} onChange={onChange} />
      {t("days")}
    </div>
  );
}

function UnitSelect({
  unit,
  onChange,
}: {
  unit: FilterUnit | undefined;
  onChange: (unit: FilterUnit) => void;
}) {
  return (
    <select
      aria-label={t("Unit")}
      value={unit ?? ""}
      onChange={({ target }) => onChange(target.value as FilterUnit)}
      className={`${INPUT_CLASS} max-w-28`}
    >
      {FILTER_UNITS.map((one) => (
        <option key={one} value={one}>
          {UNIT_NAMES[one]}
        </option>
      ))}
    </select>
  );
}

/** Edits how often an event happened, and optionally in which recent period. */
function Count({ condition, onChange }: Omit<ValueInputProps, "type">) {
  const { value, window, unit, ...rest } = condition;
  const times = value === undefined ? {} : { value };
  const hasWindow = unit !== undefined;
  return (
    <div className="flex flex-wrap items-center gap-1.5 text-sm">
      <span className="text-soft">{t("at least")}</span>
      <Amount
        label={t("Count")}
        value={value ?? 1}
        onChange={(next) => onChange({ ...condition, value: next ?? 1 })}
      />
      <select
        aria-label={t("Period")}
        value={hasWindow ? "window" : "ever"}
        onChange={({ target }) =>
          onChange(
            target.value === "ever" ? { ...rest, ...times } : { ...rest, ...times, window: 30, unit: "days" },
          )
        }
        className={`${INPUT_CLASS} max-w-40`}
      >
        <option value="ever">{t("times ever")}</option>
        <option value="window">{t("times in the last")}</option>
      </select>
      {hasWindow && (
        <>
          <Amount
            label={t("Duration")}
            value={window}
            onChange={(next) =>
              onChange({ ...rest, ...times, unit, ...(next === undefined ? {} : { window: next }) })
            }
          />
          <UnitSelect unit={unit} onChange={(next) => onChange({ ...condition, unit: next })} />
        </>
      )}
    </div>
  );
}
