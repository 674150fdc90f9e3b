// Lists the statuses of a column with their row counts and what each becomes.
import { EVERY_OTHER, IMPORT_STATUSES } from "@postloft/contract/contact-file/mapping.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { formatNumber } from "../../../ui/format.ts";
import type { ColumnChange, ColumnPlan } from "./import-plan.ts";
import { STATUS_NAMES } from "./status-names.ts";
import { statusWords, type StatusWord } from "./status-words.ts";
import type { ColumnSurvey } from "./survey-table.ts";

interface StatusListProps {
  column: ColumnPlan;
  survey: ColumnSurvey;
  onChange: (change: ColumnChange) => void;
}

function textOf({ key, text }: StatusWord): string {
  if (key === "") return t("Empty");
  return key === EVERY_OTHER ? t("Any value") : text;
}

export function StatusList({ column, survey, onChange }: StatusListProps) {
  const { name, values, isEmptyOpen } = column;
  const words = statusWords(name, values, survey);
  return (
    <table className="w-full text-sm sm:col-span-3 sm:col-start-2">
      <caption className="sr-only">{t("Statuses in {column}", { column: name })}</caption>
      <thead className="text-left text-xs text-faint">
        <tr>
          <th className="pb-1 font-medium">{t("Value")}</th>
          <th className="w-12 pb-1 text-right font-medium sm:w-20">{t("Rows")}</th>
          <th className="w-36 pb-1 pl-3 font-medium sm:w-48 sm:pl-4 lg:w-54">{t("Becomes")}</th>
        </tr>
      </thead>
      <tbody>
        {words.map((word) => (
          <tr key={word.key}>
            <td className="py-1 wrap-anywhere">
              <bdi className={word.key === "" || word.key === EVERY_OTHER ? "text-soft" : ""}>
                {textOf(word)}
              </bdi>
            </td>
            <td className="py-1 text-right tabular-nums">{formatNumber(word.rows)}</td>
            <td className="py-1 pl-3 sm:pl-4">
              <select
                aria-label={t("{value} in {column} becomes", { value: textOf(word), column: name })}
                aria-invalid={word.key !== "" && values[word.key] === undefined ? true : undefined}
                value={values[word.key] ?? ""}
                onChange={({ target }) => {
                  const status = IMPORT_STATUSES.find((one) => one === target.value) ?? null;
                  onChange({ values: { [word.key]: status } });
                }}
                className={INPUT_CLASS}
              >
                {word.key === "" && isEmptyOpen && <option value="">{t("No status")}</option>}
                {word.key !== "" && values[word.key] === undefined && <option value="">{t("Choose")}</option>}
                {STATUS_ORDER.map((status) => (
                  <option key={status} value={status}>
                    {STATUS_NAMES[status]}
                  </option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const STATUS_ORDER = ["subscribed", "unsubscribed", "suppressed", "skip"] as const;
