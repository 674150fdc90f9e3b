// Preloaded into a program to shift its clock by WRONG_BY_MS. With JUMPS=1 the shift changes sign every 10 s. Elapsed time
// (`performance.now()`, timers) stays correct, as on a machine with a wrongly set clock.
import { fileURLToPath } from "node:url";

const WRONG_MS = 2 * 60 * 60_000;
const JUMP_EVERY_MS = 10_000;

const loaded = { NODE_OPTIONS: `--import ${fileURLToPath(import.meta.url)}` };

/** Settings for three programs: two hours fast, two hours slow, and jumping between both, each in another time zone. */
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
  constructor(...input: [] | [number]) {
    if (input.length === 0) super(wrongNow());
    else super(...input);
  }

  static override now(): number {
    return wrongNow();
  }
}

if (wrongBy !== 0) globalThis.Date = WrongDate as DateConstructor;
