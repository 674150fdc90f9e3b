// The first step of an import: choosing or dropping a file, or continuing with the one chosen before.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileUp } from "lucide-react";
import { plural, t } from "../../../text/t.ts";
import { formatBytes } from "../../../ui/format.ts";
import { Card } from "../../../ui/page.tsx";
import { Failure } from "../../../ui/states.tsx";
import { customFieldsOf, fieldsQuery, fieldTypes } from "../field-queries.ts";
import type { ChosenFile } from "./import-plan.ts";
import { FILE_BYTES_MAX, readImportFile } from "./read-import-file.ts";

const SAMPLE = "email,firstName,plan,subscribed\nada@example.com,Ada,pro,yes\n";

interface FileStepProps {
  projectId: string;
  /** Whether the URL names the columns of a file that the tab no longer has. */
  isGone: boolean;
  chosen: ChosenFile | null;
  onChoose: (file: ChosenFile) => void;
}

export function FileStep({ projectId, isGone, chosen, onChoose }: FileStepProps) {
  return (
    <Card className="p-5">
      {isGone && (
        <p role="status" className="mb-4 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
          {t("Choose the file again. After a reload, we only keep small files that weren't imported yet.")}
        </p>
      )}
      {chosen !== null && (
        <p className="mb-4 text-sm wrap-anywhere">
          <bdi className="font-medium">{chosen.planned.name}</bdi>
          {" · "}
          {plural(chosen.planned.survey.rows, "{n} row", "{n} rows")}
          {" · "}
          <Link
            to="/$projectId/contacts/import"
            params={{ projectId }}
            search={{ step: "columns" }}
            className="text-accent hover:underline"
          >
            {t("Continue with this file")}
          </Link>
        </p>
      )}
      <FileInput projectId={projectId} onChoose={onChoose} />
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

function FileInput({ projectId, onChoose }: Pick<FileStepProps, "projectId" | "onChoose">) {
  const queries = useQueryClient();
  const reading = useMutation({
    networkMode: "always",
    mutationFn: async (file: File) => {
      // The proposal works without the known fields if they can't be loaded.
      const fields = await queries
        .fetchQuery(fieldsQuery(projectId))
        .then(customFieldsOf)
        .catch(() => []);
      return readImportFile(file, fieldTypes(fields));
    },
    onSuccess: onChoose,
  });
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
        <span className="font-medium" role="status">
          {reading.isPending ? t("Reading the file…") : t("Choose a CSV file, or drop it here")}
        </span>
        <span className="text-sm text-soft">
          {t("One contact per row, with an email column. CSV, or a ZIP from Mailchimp. Up to {most}.", {
            most: formatBytes(FILE_BYTES_MAX),
          })}
        </span>
        <input
          type="file"
          accept=".csv,.tsv,.txt,.zip,text/csv,application/zip"
          onChange={({ target }) => {
            read(target.files?.[0]);
            // Reset, so that the same file can be chosen again after an edit.
            target.value = "";
          }}
          className="sr-only"
        />
      </label>
    </>
  );
}
