// A file that was chosen and not imported yet, kept by the tab: a reload, or a way back, loses neither it nor what its columns become.
// Before it: import-page.tsx. After it: the tab's own store, which forgets it with the tab.
import type { ColumnType } from "./typed-columns.ts";
import type { CsvFile, Mapping } from "./csv.ts";

export interface ChosenFile {
  file: CsvFile;
  mapping: Mapping;
  /** Of each column. */
  types: ColumnType[];
  /** The job that tried it out as it is now. */
  trial?: string;
  /** The job that imported it. */
  job?: string;
}

/** By another name than what former versions kept, which knew nothing of faults. */
const keptAs = (projectId: string) => `postloft.imported-file.${projectId}`;

/** Null when there is none. */
export function readKept(projectId: string): ChosenFile | null {
  return JSON.parse(sessionStorage.getItem(keptAs(projectId)) ?? "null") as ChosenFile | null;
}

/** With null, or once it is imported, it is forgotten. */
export function keep(projectId: string, chosen: ChosenFile | null): void {
  sessionStorage.removeItem(keptAs(projectId));
  if (chosen === null || chosen.job !== undefined) return;
  try {
    sessionStorage.setItem(keptAs(projectId), JSON.stringify(chosen));
  } catch {
    // A file that is too large for the store is chosen again after a reload.
  }
}
