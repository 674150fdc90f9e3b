// Asks before leaving a page with unsaved changes.
import { useBlocker } from "@tanstack/react-router";
import { holdHistory } from "./hold-history.ts";
import { confirmLeaving, type Question } from "./leave-question.ts";

/** @param question defaults to a question about unsaved text */
export function useLeaveWarning(isUnsaved: boolean, question?: Question): void {
  useBlocker({
    shouldBlockFn: () => holdHistory(async () => isUnsaved && !(await confirmLeaving(question))),
    enableBeforeUnload: () => isUnsaved,
  });
}
