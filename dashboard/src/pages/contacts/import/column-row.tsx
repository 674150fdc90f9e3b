// One column of a file: its target, and the choices that belong to it.
import { COLUMN_TARGETS, DATE_ORDERS, type ValueType } from "@postloft/contract/contact-file/mapping.ts";
import { plural, t } from "../../../text/t.ts";
import { Checkbox, INPUT_CLASS } from "../../../ui/field.tsx";
import { formatNumber } from "../../../ui/format.ts";
import { TYPE_NAMES } from "../../segments/condition-builder/fields.ts";
import { KIND_NAMES } from "../own-data/field-words.ts";
import type { Kind } from "../own-data/field-value.ts";
import type { ColumnChange, ColumnPlan } from "./import-plan.ts";
import { ORDER_NAMES, TARGET_NAMES, TYPE_CHOICES } from "./status-names.ts";
import { StatusList } from "./status-list.tsx";
import type { ColumnSurvey } from "./survey-table.ts";

interface ColumnRowProps {
  column: ColumnPlan;
  survey: ColumnSurvey | undefined;
  /** The type of the field, if the project has it. */
  knownAs: keyof typeof TYPE_NAMES | undefined;
  otherValues: number;
  onChange: (change: ColumnChange) => void;
}

const NONE: ColumnSurvey = { samples: [], values: [], empty: 0, kinds: {} };

export function ColumnRow({ column, survey = NONE, knownAs, otherValues, onChange }: ColumnRowProps) {
  const { name, target, isStatusLike, isNoStatus } = column;
  return (
    <li className="grid items-start gap-x-4 gap-y-2 px-5 py-3 sm:grid-cols-[1fr_11rem_11rem_11rem] lg:grid-cols-[1fr_11rem_11rem_12.5rem]">
      <div className="min-w-0">
        <p className="truncate font-medium">
          <bdi>{name}</bdi>
        </p>
        <p className="truncate text-sm text-faint">
          <bdi>{survey.samples.length === 0 ? t("No values") : survey.samples.join(" · ")}</bdi>
        </p>
      </div>
      <select
        aria-label={t("Target of {column}", { column: name })}
        value={target}
        onChange={(event) => {
          const chosen = COLUMN_TARGETS.find((one) => one === event.target.value);
          if (chosen !== undefined) onChange({ target: chosen });
        }}
        className={INPUT_CLASS}
      >
        {COLUMN_TARGETS.map((one) => (
          <option key={one} value={one}>
            {TARGET_NAMES[one]}
          </option>
        ))}
      </select>
      {target === "field" && (
        <>
          <FieldName {...{ column, knownAs, onChange }} />
          <FieldType {...{ column, survey, otherValues, onChange }} />
        </>
      )}
      {target === "status" && <StatusList column={column} survey={survey} onChange={onChange} />}
      {isStatusLike && target !== "status" && (
        <div className="rounded-md bg-warn-wash px-3.5 py-2.5 text-sm sm:col-span-4">
          <p className="mb-2">
            {t("“{column}” looks like a subscription status. People who left could get email again.", {
              column: name,
            })}
          </p>
          <Checkbox
            label={t("“{column}” isn't a subscription status", { column: name })}
            checked={isNoStatus}
            onChange={(event) => onChange({ isNoStatus: event.target.checked })}
          />
        </div>
      )}
    </li>
  );
}

function FieldName({ column, knownAs, onChange }: Pick<ColumnRowProps, "column" | "knownAs" | "onChange">) {
  return (
    <div className="min-w-0">
      <input
        aria-label={t("Field for {column}", { column: column.name })}
        aria-invalid={column.field.trim() === "" ? true : undefined}
        value={column.field}
        onChange={(event) => onChange({ field: event.target.value })}
        className={INPUT_CLASS}
      />
      {knownAs !== undefined && (
        <p className="mt-1 px-2.5 text-xs text-faint">
          {t("Existing field: {type}", { type: TYPE_NAMES[knownAs] })}
        </p>
      )}
    </div>
  );
}

const KINDS = Object.keys(KIND_NAMES) as Kind[];

function FieldType({
  column,
  survey,
  otherValues,
  onChange,
}: Omit<ColumnRowProps, "knownAs"> & { survey: ColumnSurvey }) {
  const { name, type, dateFormat, isAmbiguous } = column;
  const kinds = KINDS.flatMap((kind) => {
    const count = survey.kinds[kind] ?? 0;
    return count === 0 ? [] : [{ kind, count }];
  });
  const [first] = kinds;
  const isDated = kinds.every(({ kind }) => kind === "day" || kind === "instant");
  const automatic =
    first === undefined
      ? t("No values")
      : kinds.length === 1
        ? KIND_NAMES[first.kind]
        : isDated
          ? t("Date")
          : t("Mixed types");
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <select
        aria-label={t("Type of {column}", { column: name })}
        value={type}
        onChange={(event) => onChange({ type: event.target.value as ValueType })}
        className={INPUT_CLASS}
      >
        <option value="auto">{t("Auto: {type}", { type: automatic })}</option>
        {Object.entries(TYPE_CHOICES).map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      {type === "date" && (isAmbiguous || dateFormat !== null || otherValues > 0) && (
        <select
          aria-label={t("Date order of {column}", { column: name })}
          aria-invalid={isAmbiguous && dateFormat === null ? true : undefined}
          value={dateFormat ?? ""}
          onChange={(event) =>
            onChange({ dateFormat: DATE_ORDERS.find((one) => one === event.target.value) ?? null })
          }
          className={INPUT_CLASS}
        >
          <option value="">{isAmbiguous ? t("Choose the order") : t("As written")}</option>
          {DATE_ORDERS.map((order) => (
            <option key={order} value={order}>
              {ORDER_NAMES[order]}
            </option>
          ))}
        </select>
      )}
      {type === "auto" && kinds.length > 1 && !isDated && (
        <p className="px-2.5 text-xs text-warn">
          {kinds.map(({ kind, count }) => `${KIND_NAMES[kind]}: ${formatNumber(count)}`).join(" · ")}
        </p>
      )}
      {otherValues > 0 && !(isAmbiguous && type === "date" && dateFormat === null) && (
        <p className="px-2.5 text-xs text-warn">
          {plural(otherValues, "{n} value doesn't fit and stays text", "{n} values don't fit and stay text")}
        </p>
      )}
    </div>
  );
}
