// Which column of a file becomes what: guessed, shown with its values, and changed where the guess is wrong. Before it: import-page.tsx.
import { plural, t } from "../../text/t.ts";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { guessedValues, samplesOf, type CsvFile, type Mapping } from "./csv.ts";

interface ColumnMappingProps {
  file: CsvFile;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

type Becomes = "email" | "subscribed" | "field" | "nothing";

const becomes = (field: string | null): Becomes =>
  field === null ? "nothing" : field === "email" || field === "subscribed" ? field : "field";

export function ColumnMapping({ file, mapping, onChange }: ColumnMappingProps) {
  const set = (column: number, field: string | null) =>
    onChange(mapping.map((one, at) => (at === column ? field : one)));
  const choose = (column: number, choice: string) => {
    if (choice === "email" || choice === "subscribed") return set(column, choice);
    return set(column, choice === "nothing" ? null : (file.header[column] ?? "").replace(/^data\./, ""));
  };
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">
          <bdi>{file.name}</bdi>
        </h2>
        <p className="text-sm text-soft">{plural(file.rows.length, "{n} row", "{n} rows")}</p>
        {file.isGuessed && (
          <p role="status" className="mt-1 text-sm wrap-anywhere text-warn">
            {t("The file is not UTF-8 and was read as Windows-1252. Look whether this is right: {values}", {
              values: guessedValues(file).join(" · "),
            })}
          </p>
        )}
      </header>
      <ul className="divide-y divide-line">
        {file.header.map((name, column) => {
          const field = mapping[column] ?? null;
          return (
            <li
              key={column}
              className="grid items-center gap-x-4 gap-y-2 px-5 py-3 sm:grid-cols-[1fr_11rem_11rem]"
            >
              <div className="min-w-0">
                <p className="truncate font-medium">
                  <bdi>{name === "" ? t("A column without a name") : name}</bdi>
                </p>
                <p className="truncate text-sm text-faint">
                  <bdi>{samplesOf(file, column).join(" · ")}</bdi>
                </p>
              </div>
              <select
                aria-label={t("What {column} becomes", { column: name })}
                value={becomes(field)}
                onChange={({ target }) => choose(column, target.value)}
                className={INPUT_CLASS}
              >
                <option value="email">{t("Address")}</option>
                <option value="subscribed">{t("Subscribed")}</option>
                <option value="field">{t("A field of yours")}</option>
                <option value="nothing">{t("Leave it out")}</option>
              </select>
              {becomes(field) === "field" && (
                <input
                  aria-label={t("Name of the field for {column}", { column: name })}
                  value={field ?? ""}
                  onChange={({ target }) => set(column, target.value)}
                  className={INPUT_CLASS}
                />
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
