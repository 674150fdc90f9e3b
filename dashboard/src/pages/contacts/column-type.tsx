// The type that the values of a column get: as they say themselves, or as somebody chose. Before it: column-mapping.tsx.
import { useMemo } from "react";
import { t } from "../../text/t.ts";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { formatNumber } from "../../ui/format.ts";
import { choicesFor, kindsOf, type ColumnType } from "./typed-columns.ts";
import type { CsvFile } from "./csv.ts";
import { KIND_NAMES } from "./own-data/field-words.ts";
import type { Kind } from "./own-data/field-value.ts";

type Kinds = ReturnType<typeof kindsOf>;

/** To the API both are dates. */
const isDate = (kind: Kind) => kind === "day" || kind === "instant";

function nameOfKinds(kinds: Kinds): string {
  const [first] = kinds;
  if (first === undefined) return t("No values");
  if (kinds.length === 1) return KIND_NAMES[first[0]];
  return kinds.every(([kind]) => isDate(kind)) ? t("Date") : t("As each value is");
}

interface ColumnTypeProps {
  file: CsvFile;
  column: number;
  type: ColumnType;
  onChange: (type: ColumnType) => void;
}

export function ColumnTypeChoice({ file: { header, rows }, column, type, onChange }: ColumnTypeProps) {
  const kinds = useMemo(() => kindsOf(rows, column, null), [rows, column]);
  const choices = useMemo(() => choicesFor(rows, column), [rows, column]);
  const isMixed = type === null && kinds.length > 1 && !kinds.every(([kind]) => isDate(kind));
  return (
    <div className="min-w-0">
      {choices.length === 0 ? (
        <p className="flex h-8 items-center px-2.5 text-sm text-soft">{nameOfKinds(kinds)}</p>
      ) : (
        <select
          aria-label={t("Type of {column}", { column: header[column] ?? "" })}
          value={type ?? ""}
          onChange={({ target }) => onChange(choices.find((one) => one === target.value) ?? null)}
          className={INPUT_CLASS}
        >
          <option value="">{nameOfKinds(kinds)}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {KIND_NAMES[choice]}
            </option>
          ))}
        </select>
      )}
      {isMixed && (
        <p className="mt-1 px-2.5 text-xs text-warn">
          {kinds.map(([kind, count]) => `${KIND_NAMES[kind]}: ${formatNumber(count)}`).join(" · ")}
        </p>
      )}
    </div>
  );
}
