// What is typed over what is stored, field by field. Before it: forms that are saved while somebody types on. After it: nothing.

/** What was typed since it was sent. */
export function withoutSaved<Fields extends object>(
  typed: Partial<Fields>,
  saved: Partial<Fields>,
): Partial<Fields> {
  const names = Object.keys(typed) as Array<keyof Fields>;
  const left = names.filter((name) => typed[name] !== saved[name]).map((name) => [name, typed[name]]);
  return Object.fromEntries(left) as Partial<Fields>;
}
