// Nobody loses what was typed by a click: leaving asks first while something is unsaved.
import { useBlocker } from "@tanstack/react-router";
import { t } from "../text/t.ts";

/** Whether to leave all the same. */
export function askToLeave(): boolean {
  // oxlint-disable-next-line no-alert -- the browser asks the same way when its tab is closed
  return confirm(t("Leave without saving? What you typed is lost."));
}

export function useLeaveWarning(isUnsaved: boolean): void {
  useBlocker({
    shouldBlockFn: () => isUnsaved && !askToLeave(),
    enableBeforeUnload: () => isUnsaved,
  });
}
