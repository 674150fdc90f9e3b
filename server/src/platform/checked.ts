// Marks values that passed the checks before a transaction, so that the function that writes them can't be called without these checks.

declare const passed: unique symbol;

/** A value returned by its check function. */
export type Checked<Value> = Value & { readonly [passed]: true };

/** Marks a value as checked. Only check functions call it. */
export function asChecked<Value>(value: Value): Checked<Value> {
  return value as Checked<Value>;
}
