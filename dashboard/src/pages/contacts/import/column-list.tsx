// The columns of a file: what each becomes, with its first values.
import { useQuery } from "@tanstack/react-query";
import { plural, t } from "../../../text/t.ts";
import { Card } from "../../../ui/page.tsx";
import { fieldsQuery, fieldTypes } from "../field-queries.ts";
import { ColumnRow } from "./column-row.tsx";
import { changeColumn, keepTexts, type PlannedTable } from "./import-plan.ts";

interface ColumnListProps {
  projectId: string;
  planned: PlannedTable;
  /** By the position of a column, the values that don't fit its type. */
  otherValues: ReadonlyMap<number, number>;
  onChange: (planned: PlannedTable) => void;
}

export function ColumnList({ projectId, planned, otherValues, onChange }: ColumnListProps) {
  const { columns, survey } = planned;
  const { data: fields = [] } = useQuery(fieldsQuery(projectId));
  const known = fieldTypes(fields);
  return (
    <Card>
      <TableHeader planned={planned} />
      <ul className="divide-y divide-line">
        {columns.map((column, at) => (
          <ColumnRow
            key={column.position}
            column={column}
            survey={survey.columns[at]}
            knownAs={known.get(column.field.trim())}
            otherValues={otherValues.get(column.position) ?? 0}
            onChange={(change) => onChange(changeColumn(planned, at, keepTexts(change, column, known)))}
          />
        ))}
      </ul>
    </Card>
  );
}

function TableHeader({ planned: { name, survey, table, isGuessed, files } }: { planned: PlannedTable }) {
  return (
    <header className="border-b border-line px-5 py-3">
      <h2 className="font-semibold wrap-anywhere">
        <bdi>{name}</bdi>
      </h2>
      <p className="text-sm text-soft">
        {plural(survey.rows, "{n} row", "{n} rows")}
        {!table.hasHeader && ` · ${t("no header")}`}
        {table.rowsAbove > 0 &&
          ` · ${plural(table.rowsAbove, "{n} row above the header isn't imported", "{n} rows above the header aren't imported")}`}
      </p>
      {files !== null && <p className="text-sm wrap-anywhere text-soft">{files}</p>}
      {isGuessed && survey.accented.length > 0 && (
        <p role="status" className="mt-1 text-sm wrap-anywhere text-warn">
          {t("This file isn't UTF-8, so we read it as Windows-1252. Do these look right? {values}", {
            values: survey.accented.join(" · "),
          })}
        </p>
      )}
    </header>
  );
}
