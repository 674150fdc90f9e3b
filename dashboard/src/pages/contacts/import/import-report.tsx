// The result of an import or a preview: counts, notes, and the rows that were rejected.
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import { readFile } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { formatNumber } from "../../../ui/format.ts";
import { Card } from "../../../ui/page.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { Failure } from "../../../ui/states.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { Tiles } from "../../../ui/tiles.tsx";
import { rowErrorText } from "../row-fault-text.ts";
import { importNotes } from "./import-notes.ts";
import { mergeTables } from "./merge-tables.ts";
import { statusCountsText } from "./status-names.ts";
import { UndoImport, useIsUndone } from "./undo-import.tsx";

type Fault = ImportResult["errors"][number];

interface ImportReportProps {
  projectId: string;
  jobIds: readonly string[];
  result: ImportResult;
  isDryRun: boolean;
}

export function ImportReport({ projectId, jobIds, result, isDryRun }: ImportReportProps) {
  const { createdCount, updatedCount, failureCount, errors } = result;
  const { subscribedCount, unsubscribedCount = 0, suppressedCount = 0, skippedCount = 0 } = result;
  const { warnings, notes } = importNotes(result, isDryRun);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isDryRun) section.current?.scrollIntoView({ block: "nearest" });
  }, [isDryRun]);
  return (
    <section ref={section} className="flex flex-col gap-4">
      <h2 className="font-semibold" role="status">
        {isDryRun ? t("Preview: nothing has changed") : <ReportTitle projectId={projectId} jobIds={jobIds} />}
      </h2>
      <Tiles
        tiles={[
          { label: t("New contacts"), value: formatNumber(createdCount) },
          { label: t("Updated"), value: formatNumber(updatedCount) },
          { label: t("Rejected rows"), value: formatNumber(failureCount) },
        ]}
      />
      {subscribedCount !== undefined && (
        <p>
          {statusCountsText({
            subscribed: subscribedCount,
            unsubscribed: unsubscribedCount,
            suppressed: suppressedCount,
            skipped: skippedCount,
          })}
        </p>
      )}
      {warnings.length > 0 && <Lines lines={warnings} className="text-warn" />}
      {notes.length > 0 && <Lines lines={notes} className="text-soft" />}
      {errors.length > 0 && (
        <Rejected projectId={projectId} jobIds={jobIds} result={result} isDryRun={isDryRun} />
      )}
      {!isDryRun && <UndoImport projectId={projectId} jobIds={jobIds} />}
    </section>
  );
}

function ReportTitle({ projectId, jobIds }: Pick<ImportReportProps, "projectId" | "jobIds">) {
  const isUndone = useIsUndone(projectId, jobIds);
  return isUndone ? t("This import was undone. These were its results.") : t("Import complete");
}

function Lines({ lines, className }: { lines: readonly string[]; className: string }) {
  return (
    <ul className={`flex flex-col gap-1 text-sm wrap-anywhere ${className}`}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function Rejected({ projectId, jobIds, result: { errors, failureCount }, isDryRun }: ImportReportProps) {
  const saving = useMutation({
    mutationFn: async () => {
      const files = [];
      for (const jobId of jobIds)
        files.push(await readFile(api.contacts.getImportErrors, { projectId, params: { jobId } }));
      const [only, ...more] = files;
      if (only !== undefined && more.length === 0) return saveFile(only, "errors.csv");
      const text = mergeTables(await Promise.all(files.map((file) => file.text())));
      saveFile(new Blob([text], { type: "text/csv" }), "errors.csv");
    },
  });
  return (
    <>
      <Card className="overflow-hidden">
        <Table
          label={t("Rejected rows")}
          columns={COLUMNS}
          rows={errors}
          rowKey={({ row, email, error }) => `${row} ${email} ${error}`}
        />
      </Card>
      {saving.isError && <Failure error={saving.error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button busy={saving.isPending} onClick={() => saving.mutate()}>
          {plural(failureCount, "Download {n} rejected row", "Download {n} rejected rows")}
        </Button>
        {!isDryRun && (
          <p className="text-sm text-soft">{t("Fix the rows in errors.csv, then import that file.")}</p>
        )}
      </div>
    </>
  );
}

const COLUMNS: Array<Column<Fault>> = [
  { key: "row", head: t("Row"), width: "w-20", cell: ({ row }) => formatNumber(row) },
  { key: "email", head: t("Email"), cell: ({ email }) => <bdi>{email}</bdi> },
  {
    key: "error",
    head: t("Reason"),
    cell: (fault) => (
      <span className="text-soft" title={rowErrorText(fault)}>
        <bdi>{rowErrorText(fault)}</bdi>
      </span>
    ),
  },
];
