// Creates ids as UUIDv7, so that rows sort by time and the id is known before the row exists (ARCHITECTURE.md, decision 2).
import { createHash, randomFillSync } from "node:crypto";
import { V7Generator } from "uuidv7";
import { nowMs } from "./clock.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Sorts before every id. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";

/** Belongs to no contact, so its links change no subscription. */
export const NO_ONE = NO_ID;

/** How many random numbers are fetched from the system at once. A call per id would cost more than the rest of its creation. */
const RANDOM_NUMBERS = 1024;

function createRandomNumbers(): { nextUint32(): number } {
  const numbers = new Uint32Array(RANDOM_NUMBERS);
  let next = RANDOM_NUMBERS;
  return {
    nextUint32() {
      if (next === RANDOM_NUMBERS) {
        randomFillSync(numbers);
        next = 0;
      }
      return numbers[next++] ?? 0;
    },
  };
}

/** If the clock is set back by less than this, ids continue from the last one. If it is set back further, they restart from the clock. */
const ROLLBACK_MS = 10_000;

const generator = new V7Generator(createRandomNumbers());

/** Returns a new id by the database's clock. It is greater than all previous ids of this process unless that clock was set back. */
export function newId(): string {
  return generator.generateOrResetCore(nowMs(), ROLLBACK_MS).toString();
}

/** Returns whether a text has the form of an id. Other texts are handled like unknown ids. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** Returns an id derived from content (UUIDv8, RFC 9562 §5.8). The same content has the same id. */
export function contentId(...parts: ReadonlyArray<string | Buffer>): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(`${Buffer.byteLength(part)}:`);
    hash.update(part);
  }
  const hex = hash.digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns whether an id contains its creation time (UUIDv7). All stored ids do, but a caller may name any UUID. */
export function hasTime(id: string): boolean {
  return isId(id) && id[14] === "7";
}

/** Returns the time in a UUIDv7, in milliseconds since 1970. */
export function idTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Returns the lowest id of a millisecond since 1970. */
export function firstIdAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-0000-000000000000`;
}
