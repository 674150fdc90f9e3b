// Asks before leaving a page with unsaved changes.
import { useBlocker } from "@tanstack/react-router";
import { t } from "../text/t.ts";

const WHAT_WAS_TYPED = t("Leave without saving? You will lose your changes.");

/** Returns whether the user confirms leaving. */
export function confirmLeaving(question = WHAT_WAS_TYPED): boolean {
  // oxlint-disable-next-line no-alert -- matches the browser's own question when a tab closes
  return confirm(question);
}

/** @param question defaults to a question about unsaved text */
export function useLeaveWarning(isUnsaved: boolean, question = WHAT_WAS_TYPED): void {
  useBlocker({
    shouldBlockFn: () => isUnsaved && !confirmLeaving(question),
    enableBeforeUnload: () => isUnsaved,
  });
}
