// The look of the buttons in the toolbar of a block.
export const TOOL_CLASS =
  "inline-flex size-7 items-center justify-center rounded-sm text-soft hover:bg-hover hover:text-ink disabled:opacity-40 aria-pressed:bg-press aria-pressed:text-ink";
