// Focuses the first field of a page or dialog. On a page the browser does it; a dialog does it itself so that it can restore the previous
// focus.
import { createContext, useContext, useEffect, useRef, type RefObject } from "react";

/** The enclosing dialog, or null on a page. */
export const AroundField = createContext<RefObject<HTMLElement | null> | null>(null);

/** Selector for the first field in a dialog. */
export const FIRST = "[data-first]";

/** Returns the props that mark a control as the first field. */
export function useFirstFocus<Control extends HTMLElement>(isFirst = false) {
  const dialog = useContext(AroundField);
  const control = useRef<Control>(null);
  useEffect(() => {
    // If a dialog adds its first field later, such as in a second step, move the focus there.
    if (isFirst && dialog?.current?.contains(document.activeElement) === true) control.current?.focus();
  }, [isFirst, dialog]);
  if (dialog === null) return { autoFocus: isFirst };
  return { ref: control, autoFocus: false, "data-first": isFirst ? "" : undefined };
}
