// Keeps a chosen file in the tab until it is imported, so that a reload loses neither the file nor its plan.
import type { ChosenFile } from "./import-plan.ts";

/** Previous versions stored another shape under another name. */
const draftStorageKey = (projectId: string) => `postloft.import-plan.${projectId}`;

/** Returns the kept file, or null. */
export function readKeptDraft(projectId: string): ChosenFile | null {
  return JSON.parse(sessionStorage.getItem(draftStorageKey(projectId)) ?? "null") as ChosenFile | null;
}

/** Stores a file. Null, or a file that was imported, clears the store. */
export function keep(projectId: string, chosen: ChosenFile | null): void {
  sessionStorage.removeItem(draftStorageKey(projectId));
  if (chosen === null || chosen.job !== undefined || chosen.planned.text.length > KEPT_CHARACTERS_MAX) return;
  try {
    sessionStorage.setItem(draftStorageKey(projectId), JSON.stringify(chosen));
  } catch {
    // The store is full. The file must be chosen again after a reload.
  }
}

/** Browsers keep about five million characters. Writing more would only block the page before it fails. */
const KEPT_CHARACTERS_MAX = 2_000_000;
