// The first step of an import: a file is chosen or dropped, or the one that was chosen before is gone on with. What is no table, or too
// large a one, is refused here. Before it: import-page.tsx. After it: read-csv.ts.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileUp } from "lucide-react";
import { LIMITS } from "@postloft/contract/limits.ts";
import { plural, t } from "../../text/t.ts";
import { formatBytes } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { countRows, type CsvFile } from "./csv.ts";
import type { ChosenFile } from "./kept-import.ts";
import { readCsv } from "./read-csv.ts";

const SAMPLE = "email,firstName,plan,subscribed\nada@example.com,Ada,pro,yes\n";

interface FileStepProps {
  projectId: string;
  /** The address means the columns of a file that the tab does not have any more. */
  isGone: boolean;
  chosen: ChosenFile | null;
  onChoose: (file: CsvFile) => void;
}

export function FileStep({ projectId, isGone, chosen, onChoose }: FileStepProps) {
  return (
    <Card className="max-w-3xl p-5">
      {isGone && (
        <p role="status" className="mb-4 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
          {t(
            "This page does not have the file any more: a file that was imported, or is large, is not kept when a page is loaded again. Choose it once more.",
          )}
        </p>
      )}
      {chosen !== null && (
        <p className="mb-4 text-sm wrap-anywhere">
          <bdi className="font-medium">{chosen.file.name}</bdi>
          {" · "}
          {plural(countRows(chosen.file), "{n} row", "{n} rows")}
          {" · "}
          <Link
            to="/$projectId/contacts/import"
            params={{ projectId }}
            search={{ step: "columns" }}
            className="text-accent hover:underline"
          >
            {t("Go on with this file")}
          </Link>
        </p>
      )}
      <FileInput onChoose={onChoose} />
      <p className="mt-4 text-sm text-soft">
        <a
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(SAMPLE)}`}
          download="contacts.csv"
          className="text-accent hover:underline"
        >
          {t("Download a sample file")}
        </a>
      </p>
    </Card>
  );
}

function FileInput({ onChoose }: Pick<FileStepProps, "onChoose">) {
  const reading = useMutation({ mutationFn: readCsv, onSuccess: onChoose });
  const read = (file: File | null | undefined) => file != null && reading.mutate(file);
  return (
    <>
      {reading.isError && (
        <div className="mb-4">
          <Failure error={reading.error} />
        </div>
      )}
      <label
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          read(event.dataTransfer.files[0]);
        }}
        className="flex cursor-pointer flex-col items-center gap-2 rounded-md border border-dashed border-line-strong px-6 py-14 text-center hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent"
      >
        <FileUp size={20} className="text-faint" aria-hidden />
        <span className="font-medium">{t("Choose a CSV file, or drop it here")}</span>
        <span className="text-sm text-soft">
          {t("One person a row, and a column with the addresses; {most} at most.", {
            most: formatBytes(LIMITS.importFileBytes.value),
          })}
        </span>
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          onChange={({ target }) => {
            read(target.files?.[0]);
            // The same file may be chosen again, once it was saved otherwise.
            target.value = "";
          }}
          className="sr-only"
        />
      </label>
    </>
  );
}
