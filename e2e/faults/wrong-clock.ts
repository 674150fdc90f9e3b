// Loaded into a program before its own code: its clock is wrong by WRONG_BY_MS, and with JUMPS=1 by as much the other way every other ten
// seconds. Time that passes (`performance.now()`, timers) stays right, as on a machine whose clock was set.
import { fileURLToPath } from "node:url";

const WRONG_MS = 2 * 60 * 60_000;
const JUMP_EVERY_MS = 10_000;

const loaded = { NODE_OPTIONS: `--import ${fileURLToPath(import.meta.url)}` };

/** Settings of programs: two hours fast, two hours slow, and jumping between the two, each in another time zone. */
export const WRONG_CLOCKS: ReadonlyArray<Readonly<Record<string, string>>> = [
  { ...loaded, WRONG_BY_MS: String(WRONG_MS), TZ: "America/St_Johns" },
  { ...loaded, WRONG_BY_MS: String(-WRONG_MS), TZ: "Asia/Kolkata" },
  { ...loaded, WRONG_BY_MS: String(WRONG_MS), JUMPS: "1", TZ: "Pacific/Apia" },
];

const RightDate = Date;
const wrongBy = Number(process.env["WRONG_BY_MS"] ?? 0);
const jumps = process.env["JUMPS"] === "1";

function wrongNow(): number {
  const isOtherWay = jumps && Math.floor(performance.now() / JUMP_EVERY_MS) % 2 === 1;
  return RightDate.now() + (isOtherWay ? -wrongBy : wrongBy);
}

class WrongDate extends RightDate {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(wrongNow());
    else super(...given);
  }

  static override now(): number {
    return wrongNow();
  }
}

if (wrongBy !== 0) globalThis.Date = WrongDate as DateConstructor;
