// The field that one types in first. Of a page the browser gives it the focus; of a dialog the dialog does, so that it knows what had the
// focus before, which gets it back.
import { createContext, useContext, useEffect, useRef, type RefObject } from "react";

/** What stands around fields: null on a page. */
export const AroundField = createContext<RefObject<HTMLElement | null> | null>(null);

/** Finds the field in a dialog. */
export const FIRST = "[data-first]";

/** What makes a control the first one. */
export function useFirstFocus<Control extends HTMLElement>(isFirst = false) {
  const dialog = useContext(AroundField);
  const control = useRef<Control>(null);
  useEffect(() => {
    // A field that a dialog shows later, as its next question, takes the focus by itself.
    if (isFirst && dialog?.current?.contains(document.activeElement) === true) control.current?.focus();
  }, [isFirst, dialog]);
  if (dialog === null) return { autoFocus: isFirst };
  return { ref: control, autoFocus: false, "data-first": isFirst ? "" : undefined };
}
