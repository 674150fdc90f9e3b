// Focuses the blocks of the email.
import { flushSync } from "react-dom";

/** Returns the text of a block, or else its handle. */
export function focusableOf(id: string): HTMLElement | null {
  const block = document.querySelector(`[data-block="${CSS.escape(id)}"]`);
  return (
    block?.querySelector<HTMLElement>("[contenteditable]:not([contenteditable=false])") ??
    block?.querySelector<HTMLElement>("[data-handle]") ??
    null
  );
}

/** Returns the same for a new block. Its first text is selected when it gets the focus, so that typing replaces it. */
export function focusableOfNew(id: string): HTMLElement | null {
  const target = focusableOf(id);
  const select = () => target !== null && getSelection()?.selectAllChildren(target);
  if (target?.isContentEditable === true) target.addEventListener("focus", select, { once: true });
  return target;
}

const handles = () => [...document.querySelectorAll<HTMLElement>("[data-block] > [data-handle]")];

/** Removes a block and focuses the handle of the one that takes its place. */
export function removeAndFocusNext(id: string, remove: () => void): void {
  const at = handles().findIndex((handle) => handle.parentElement?.dataset["block"] === id);
  flushSync(remove);
  const rest = handles();
  (rest[at] ?? rest.at(-1))?.focus();
}

/** Focuses the first control in an element. */
export function focusFirst(element: HTMLElement | null): void {
  element?.querySelector<HTMLElement>("button:not(:disabled), input, select, textarea, a")?.focus();
}
