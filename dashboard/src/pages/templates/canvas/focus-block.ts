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

/** Focuses a new block. Typing replaces its first text. */
export function focusNewBlock(id: string): void {
  const target = focusableOf(id);
  target?.focus();
  if (target?.isContentEditable === true) getSelection()?.selectAllChildren(target);
}
