// What came of an import, or would come of it: counts, and the rows that were left out. Before it: import-page.tsx.
import { useMutation } from "@tanstack/react-query";
import type { z } from "zod";
import type { importResult } from "@postloft/contract/contact-import.ts";
import { download } from "../../api/call.ts";
import { getImportErrors } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatNumber } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { rowErrorText } from "./row-fault-text.ts";

type Result = z.output<typeof importResult>;
type Fault = Result["errors"][number];

interface ImportReportProps {
  projectId: string;
  jobId: string;
  result: Result;
  isDryRun: boolean;
}

export function ImportReport({ projectId, jobId, result, isDryRun }: ImportReportProps) {
  const saving = useMutation({
    mutationFn: () => download(getImportErrors, { projectId, params: { jobId } }, "errors.csv"),
  });
  return (
    <section className="flex max-w-4xl flex-col gap-4">
      <h2 className="font-semibold" role="status">
        {isDryRun ? t("This is what would happen") : t("The import is done")}
      </h2>
      <Tiles
        tiles={[
          { label: t("New contacts"), value: formatNumber(result.createdCount) },
          { label: t("Known already"), value: formatNumber(result.updatedCount) },
          { label: t("Left out"), value: formatNumber(result.failureCount) },
        ]}
      />
      {result.ignoredColumns.length > 0 && (
        <p className="text-sm text-soft">
          {t("Ignored, since they are Postloft's own: {columns}", {
            columns: result.ignoredColumns.join(", "),
          })}
        </p>
      )}
      {result.errors.length > 0 && (
        <>
          <Card className="overflow-hidden">
            <Table
              label={t("Rows that are left out")}
              columns={COLUMNS}
              rows={result.errors}
              rowKey={({ row, error }) => `${row} ${error}`}
            />
          </Card>
          {saving.isError && <Failure error={saving.error} />}
          <div>
            <Button busy={saving.isPending} onClick={() => saving.mutate()}>
              {t("All of them as CSV")}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

const COLUMNS: Array<Column<Fault>> = [
  { key: "row", head: t("Row"), width: "w-20", cell: ({ row }) => formatNumber(row) },
  { key: "email", head: t("Address"), cell: ({ email }) => <bdi>{email}</bdi> },
  {
    key: "error",
    head: t("Why"),
    cell: (fault) => (
      <span className="text-soft" title={rowErrorText(fault)}>
        <bdi>{rowErrorText(fault)}</bdi>
      </span>
    ),
  },
];
