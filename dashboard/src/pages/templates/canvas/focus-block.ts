// Focuses the blocks of the email.

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
