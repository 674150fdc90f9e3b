// Which lane of a door a request takes: the same text always the same one, different texts spread.

export function laneOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return Math.abs(hash);
}

/** `{ [name]: value }`, or nothing when the value was left out: omitted is not the same as any value. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
}
