// Packs the ids of a bulk change into sixteen bytes each. Pure.

export const ID_BYTES = 16;

/** Returns each id once, in the order of first occurrence. */
export function packIds(ids: readonly string[]): Buffer {
  const distinct = [...new Set(ids.map((id) => id.toLowerCase().replaceAll("-", "")))];
  return Buffer.from(distinct.join(""), "hex");
}

export function unpackIds(bytes: Buffer): string[] {
  const ids: string[] = [];
  for (let at = 0; at + ID_BYTES <= bytes.length; at += ID_BYTES) {
    const hex = bytes.toString("hex", at, at + ID_BYTES);
    ids.push(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    );
  }
  return ids;
}
