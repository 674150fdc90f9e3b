// Downloads rows that are already on the screen as a CSV file.
import { Download } from "lucide-react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { saveFile } from "./save-file.ts";

export type CsvValue = string | number | null;

interface CsvButtonProps {
  /** Names the file and the button. */
  title: string;
  /** Starts with the names of the columns. */
  rows: () => ReadonlyArray<readonly CsvValue[]>;
}

/** Starts a formula in a spreadsheet program, which may also convert full-width forms. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /[",;\n\r\t]|^\s|\s$/;

/** Returns a file with a line per row (RFC 4180). A text that a spreadsheet would run gets an apostrophe, as in exports of contacts. */
function writeCsv(rows: ReadonlyArray<readonly CsvValue[]>): string {
  const cellOf = (value: CsvValue) => {
    if (typeof value !== "string") return String(value ?? "");
    const text = FORMULA.test(value) ? `'${value}` : value;
    return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

export function CsvButton({ title, rows }: CsvButtonProps) {
  const save = () =>
    saveFile(
      new Blob([writeCsv(rows())], { type: "text/csv" }),
      `${title.toLowerCase().replaceAll(" ", "-")}.csv`,
    );
  return (
    <Button look="quiet" onClick={save} aria-label={t("{title} as CSV", { title })}>
      <Download size={14} aria-hidden /> {t("CSV")}
    </Button>
  );
}
