// Ids: UUIDv7 made by us, so that rows are in the order of time and the id is known before the row exists (ARCHITECTURE.md, decision 2).
import { createHash, randomFillSync } from "node:crypto";
import { V7Generator } from "uuidv7";
import { nowMs } from "./clock.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Below every id there is. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";

/** No contact has this id: whoever opens its links changes nobody's subscription. */
export const NOBODY = NO_ID;

/** Random numbers are taken from the system so many at a time: one call for each id would cost more than the rest of it. */
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

/** Of a clock that is set back by less the ids go on from where they were; by more, they begin anew. */
const ROLLBACK_MS = 10_000;

const generator = new V7Generator(createRandomNumbers());

/** A new id by the clock of the database: later than every one this process made before, unless that clock was set back. */
export function newId(): string {
  return generator.generateOrResetCore(nowMs(), ROLLBACK_MS).toString();
}

/** Whether a text can be an id at all; what is none names nothing, and is answered like any missing one. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** An id made from content (UUIDv8, RFC 9562 §5.8): the same content has the same id. */
export function contentId(...parts: ReadonlyArray<string | Buffer>): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(`${Buffer.byteLength(part)}:`);
    hash.update(part);
  }
  const hex = hash.digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The instant inside a UUIDv7, in milliseconds since 1970. */
export function idTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The first id that can be made in a millisecond since 1970. */
export function firstIdAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-0000-000000000000`;
}
