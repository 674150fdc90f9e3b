// Prints tables for the terminal and docs/benchmarks.md, and formats their numbers.

/** Prints rows as a Markdown table with aligned columns; numbers are right-aligned. */
export function printTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const isNumber = head.map((_, column) => rows.every((row) => /^[\d.,×% –]*$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    isNumber[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  print([line(head), line(rule), ...rows.map(line)].join("\n"));
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes progress to standard error, so that standard output contains only the table. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function whole(number: number): string {
  return Math.round(number).toLocaleString("en-US");
}

export function oneDecimal(number: number): string {
  return number.toFixed(1);
}
