// Nobody loses what was typed by a click: leaving asks first while something is unsaved.
import { useBlocker } from "@tanstack/react-router";
import { t } from "../text/t.ts";

const WHAT_WAS_TYPED = t("Leave without saving? You will lose your changes.");

/** Whether to leave all the same. */
export function askToLeave(question = WHAT_WAS_TYPED): boolean {
  // oxlint-disable-next-line no-alert -- the browser asks the same way when its tab is closed
  return confirm(question);
}

/** @param question what is asked: by default about what was typed */
export function useLeaveWarning(isUnsaved: boolean, question = WHAT_WAS_TYPED): void {
  useBlocker({
    shouldBlockFn: () => isUnsaved && !askToLeave(question),
    enableBeforeUnload: () => isUnsaved,
  });
}
