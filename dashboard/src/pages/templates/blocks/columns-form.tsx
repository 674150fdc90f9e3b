// Adds and removes columns.
import type { Columns } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";

const MOST_COLUMNS = 3;

interface ColumnsFormProps {
  block: Columns;
  onChange: (block: Columns) => void;
}

export function ColumnsForm({ block, onChange }: ColumnsFormProps) {
  const { columns } = block;
  return (
    <div className="flex flex-wrap gap-1">
      {columns.length < MOST_COLUMNS && (
        <Button onClick={() => onChange({ ...block, columns: [...columns, []] })}>{t("Add column")}</Button>
      )}
      {columns.length > 2 && (
        <Button look="quiet" onClick={() => onChange({ ...block, columns: columns.slice(0, -1) })}>
          {t("Remove last column")}
        </Button>
      )}
    </div>
  );
}
