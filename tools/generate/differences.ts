// Compares the structure of example responses.

/** Returns paths where two responses differ in structure: missing fields or values of another type. Null and empty lists match anything. */
export function differences(one: unknown, other: unknown, path = ""): string[] {
  if (one === null || other === null) return [];
  if (typeof one !== typeof other || Array.isArray(one) !== Array.isArray(other)) return [path];
  if (typeof one !== "object") return [];
  if (Array.isArray(one) && Array.isArray(other)) {
    const [first, second] = [one[0] as unknown, other[0] as unknown];
    return first === undefined || second === undefined ? [] : differences(first, second, `${path}[]`);
  }
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) =>
    name in left && name in right
      ? differences(left[name], right[name], `${path}.${name}`)
      : [`${path}.${name}`],
  );
}
