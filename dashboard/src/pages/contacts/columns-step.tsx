// The second step of an import: what each column becomes, a trial that changes nothing, and the start. A trial counts for the file and the
// columns it tried. Before it: import-page.tsx. After it: column-mapping.tsx, running-import.tsx.
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Dispatch, SetStateAction } from "react";
import { upload } from "../../api/call.ts";
import { importContacts } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/states.tsx";
import { ColumnMapping } from "./column-mapping.tsx";
import { countRows, writeCsv } from "./csv.ts";
import type { ChosenFile } from "./kept-import.ts";
import { refuseLarge } from "./read-csv.ts";
import { RunningImport } from "./running-import.tsx";

const route = getRouteApi("/signed-in/$projectId/contacts/import");

interface ColumnsStepProps {
  projectId: string;
  chosen: ChosenFile;
  trial: string | undefined;
  onChange: Dispatch<SetStateAction<ChosenFile | null>>;
}

export function ColumnsStep({ projectId, chosen, trial, onChange }: ColumnsStepProps) {
  const navigate = route.useNavigate();
  const sending = useSending({ projectId, trial, onChange });
  const change = (columns: Partial<Pick<ChosenFile, "mapping" | "types">>) => {
    sending.reset();
    const { file, mapping, types } = chosen;
    onChange({ file, mapping, types, ...columns });
    if (trial !== undefined) void navigate({ search: { step: "columns" }, replace: true });
  };
  const hasAddress = chosen.mapping.filter((field) => field === "email").length === 1;
  const send = (dryRun: boolean) => sending.mutate({ chosen, dryRun });
  return (
    <div className="flex max-w-4xl flex-col gap-5">
      {chosen.job !== undefined && (
        <p role="status" className="rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
          {t("This file was imported already.")}{" "}
          <Link
            to="/$projectId/contacts/import"
            params={{ projectId }}
            search={{ job: chosen.job }}
            className="text-accent hover:underline"
          >
            {t("What came of it")}
          </Link>
        </p>
      )}
      <ColumnMapping projectId={projectId} chosen={chosen} onChange={change} />
      {!hasAddress && (
        <p role="status" className="text-sm text-warn">
          {t("Exactly one column must be the address.")}
        </p>
      )}
      {sending.isError && <Failure error={sending.error} />}
      {trial !== undefined && trial === chosen.trial && !sending.isPending && (
        <RunningImport projectId={projectId} jobId={trial} isDryRun />
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={() => void navigate({ search: {} })}>
          {t("Another file")}
        </Button>
        <Button busy={sending.isPending} disabled={!hasAddress} onClick={() => send(true)}>
          {t("Try it without changing anything")}
        </Button>
        <Button look="primary" busy={sending.isPending} disabled={!hasAddress} onClick={() => send(false)}>
          {plural(countRows(chosen.file), "Import {n} row", "Import {n} rows")}
        </Button>
      </div>
    </div>
  );
}

/** Sends the file as its columns are now, and goes on to what comes of it. */
function useSending({ projectId, trial, onChange }: Omit<ColumnsStepProps, "chosen">) {
  const navigate = route.useNavigate();
  return useMutation({
    mutationFn: ({ chosen, dryRun }: { chosen: ChosenFile; dryRun: boolean }) => {
      const file = writeCsv(chosen.file, chosen.mapping, chosen.types);
      // Commas and marks may have made more of it.
      refuseLarge(file.size);
      return upload(importContacts, { projectId, query: dryRun ? { dryRun: "true" } : {} }, file);
    },
    onSuccess: async ({ jobId }, { chosen, dryRun }) => {
      const become = dryRun ? { trial: jobId } : { job: jobId };
      onChange((now) => (now === chosen ? { ...now, ...become } : now));
      await (dryRun
        ? navigate({ search: { step: "columns", trial: jobId }, replace: trial !== undefined })
        : navigate({ search: { job: jobId } }));
    },
  });
}
