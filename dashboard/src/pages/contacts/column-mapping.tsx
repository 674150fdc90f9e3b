// Which column of a file becomes what, and of which type: guessed, shown with its values, and changed where the guess is wrong.
// Before it: columns-step.tsx. After it: column-type.tsx.
import { useQuery } from "@tanstack/react-query";
import { plural, t } from "../../text/t.ts";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { TYPE_NAMES } from "../segments/condition-builder/fields.ts";
import { ColumnTypeChoice } from "./column-type.tsx";
import type { ColumnType } from "./typed-columns.ts";
import { countRows, guessedValues, isOwn, samplesOf, type CsvFile } from "./csv.ts";
import { fieldsQuery } from "./field-queries.ts";
import type { ChosenFile } from "./kept-import.ts";
import { rowFaultText } from "./row-fault-text.ts";

interface ColumnMappingProps {
  projectId: string;
  chosen: ChosenFile;
  onChange: (columns: Partial<Pick<ChosenFile, "mapping" | "types">>) => void;
}

const FAULTS_SHOWN = 3;

type Becomes = "email" | "subscribed" | "field" | "nothing";

const becomes = (field: string | null): Becomes =>
  field === null ? "nothing" : field === "email" || field === "subscribed" ? field : "field";

export function ColumnMapping({ projectId, chosen, onChange }: ColumnMappingProps) {
  const { file, mapping, types } = chosen;
  const { data: known = [] } = useQuery(fieldsQuery(projectId));
  const set = (column: number, field: string | null) => onChange({ mapping: mapping.with(column, field) });
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
        <p className="text-sm text-soft">{plural(countRows(file), "{n} row", "{n} rows")}</p>
        {file.isGuessed && (
          <p role="status" className="mt-1 text-sm wrap-anywhere text-warn">
            {t("The file is not UTF-8 and was read as Windows-1252. Look whether this is right: {values}", {
              values: guessedValues(file).join(" · "),
            })}
          </p>
        )}
        {file.faults.length > 0 && <FaultyRows file={file} />}
      </header>
      <ul className="divide-y divide-line">
        {mapping.map((field, column) => (
          <ColumnRow
            key={column}
            {...{ chosen, column, field }}
            knownAs={known.find((one) => one.field === `data.${field}`)?.type}
            onChoose={(choice) => choose(column, choice)}
            onRename={(name) => set(column, name)}
            onType={(type) => onChange({ types: types.with(column, type) })}
          />
        ))}
      </ul>
    </Card>
  );
}

/** Known before anything is sent; the report of the import names all of them. */
function FaultyRows({ file: { faults, firstRow } }: { file: CsvFile }) {
  return (
    <div role="status" className="mt-1 text-sm wrap-anywhere text-warn">
      <p>{plural(faults.length, "{n} row will be left out:", "{n} rows will be left out:")}</p>
      <ul>
        {faults.slice(0, FAULTS_SHOWN).map(({ at, fault }) => (
          <li key={at}>{t("Row {row}: {why}", { row: firstRow + at, why: rowFaultText(fault) })}</li>
        ))}
      </ul>
    </div>
  );
}

interface ColumnRowProps {
  chosen: ChosenFile;
  column: number;
  field: string | null;
  /** The type of the field where the project has it already. */
  knownAs: keyof typeof TYPE_NAMES | undefined;
  onChoose: (choice: string) => void;
  onRename: (field: string) => void;
  onType: (type: ColumnType) => void;
}

function ColumnRow({ chosen, column, field, knownAs, onChoose, onRename, onType }: ColumnRowProps) {
  const { file, types } = chosen;
  const name = file.header[column] ?? "";
  return (
    <li className="grid items-start gap-x-4 gap-y-2 px-5 py-3 sm:grid-cols-[1fr_10rem_10rem_10rem]">
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
        onChange={({ target }) => onChoose(target.value)}
        className={INPUT_CLASS}
      >
        <option value="email">{t("Address")}</option>
        <option value="subscribed">{t("Subscribed")}</option>
        <option value="field">{t("A field of yours")}</option>
        <option value="nothing">{t("Leave it out")}</option>
      </select>
      {isOwn(field) && (
        <>
          <div className="min-w-0">
            <input
              aria-label={t("Name of the field for {column}", { column: name })}
              value={field ?? ""}
              onChange={({ target }) => onRename(target.value)}
              className={INPUT_CLASS}
            />
            {knownAs !== undefined && (
              <p className="mt-1 px-2.5 text-xs text-faint">
                {t("There already: {type}", { type: TYPE_NAMES[knownAs] })}
              </p>
            )}
          </div>
          <ColumnTypeChoice file={file} column={column} type={types[column] ?? null} onChange={onType} />
        </>
      )}
    </li>
  );
}
