// Tests how a database is assessed by its row, its place and the memory of this machine.
import { expect, test } from "vitest";
import { assess, SILENCE_MS, type Kept, type Place, type Stamp } from "./rules.ts";

const NOW_MS = 1_800_000_000_000;
const ID = "0198d3a0-0000-7000-8000-000000000001";
const HERE: Place = { systemIdentifier: "7711", databaseOid: "5", timeline: "00000001" };
const MINUTE_MS = 60_000;

/** Returns the row of a database with a last heartbeat, number 100, that is five seconds old. */
const stamp = (change: Partial<Stamp> = {}): Stamp => ({
  id: ID,
  place: HERE,
  incarnation: 3,
  incarnationBeat: 50,
  beat: 100,
  beatAtMs: NOW_MS - 5_000,
  nowMs: NOW_MS,
  isHoldAsked: false,
  wentBackAtMs: null,
  ...change,
});
const kept = (change: Partial<Kept> = {}): Kept => ({
  id: ID,
  incarnation: 3,
  beat: 100,
  beatAtMs: NOW_MS - 5_000,
  isCopy: false,
  rememberedSinceMs: null,
  ...change,
});
const LONG_OFF = { beatAtMs: NOW_MS - 12 * SILENCE_MS };

const GOES_ON: ReadonlyArray<[string, Stamp, Place, Kept | null]> = [
  ["the first start", stamp({ id: null }), HERE, null],
  ["a start with a matching file", stamp(), HERE, kept()],
  ["a file that is slightly behind", stamp(), HERE, kept({ beat: 90, beatAtMs: NOW_MS - 60_000 })],
  ["a machine without a file shortly after the last heartbeat", stamp(), HERE, null],
  ["a file of another installation", stamp(), HERE, kept({ id: "another", beat: 900 })],
  ["a night offline with a matching file", stamp(LONG_OFF), HERE, kept(LONG_OFF)],
  [
    "a proper move, with the last heartbeat in the file",
    stamp(LONG_OFF),
    { ...HERE, systemIdentifier: "8" },
    kept(LONG_OFF),
  ],
  ["failover to a standby with all data", stamp(), { ...HERE, timeline: "00000002" }, kept()],
  ["failover to a standby without any memory", stamp(), { ...HERE, timeline: "00000002" }, null],
  [
    "values that may not be queried",
    stamp(),
    { systemIdentifier: null, databaseOid: null, timeline: null },
    kept(),
  ],
  [
    "a file from before other processes handled it",
    stamp({ wentBackAtMs: NOW_MS - 1_000 }),
    HERE,
    kept({ incarnation: 2, beat: 400 }),
  ],
  [
    "a live process that remembers everything the database lost",
    stamp(),
    { ...HERE, timeline: "00000002" },
    kept({ beat: 101, rememberedSinceMs: NOW_MS - 60_000 }),
  ],
  ["a file that knows less than another process", stamp(), HERE, kept({ incarnation: 2, beat: 50 })],
];

test.each(GOES_ON)("continues: %s", (_title, row, place, remembered) => {
  expect(assess(row, place, remembered).holdReason).toBeNull();
});

const HOLDS: ReadonlyArray<[string, RegExp, Stamp, Place, Kept | null]> = [
  ["a requested hold", /requested/, stamp({ isHoldAsked: true }), HERE, kept()],
  ["a file with a later heartbeat", /rolled back/, stamp(), HERE, kept({ beat: 101 })],
  ["a file with a later incarnation", /rolled back/, stamp(), HERE, kept({ incarnation: 4, beat: 60 })],
  [
    "a process that knows more than the one that took over first",
    /rolled back/,
    stamp(),
    HERE,
    kept({ incarnation: 2, beat: 51 }),
  ],
  [
    "a second restore after a handled one",
    /rolled back/,
    stamp({ wentBackAtMs: NOW_MS - 10 * MINUTE_MS }),
    HERE,
    kept({ beat: 200 }),
  ],
  ["another server without any memory", /copy/, stamp(), { ...HERE, systemIdentifier: "8" }, null],
  ["another database on the server", /copy/, stamp(), { ...HERE, databaseOid: "77" }, kept({ beat: 99 })],
  [
    "a live process that remembers less than the database lost",
    /rolled back/,
    stamp(),
    HERE,
    kept({ beat: 101, rememberedSinceMs: NOW_MS - 1_000 }),
  ],
  ["a copied data folder", /folder is a copy/, stamp(), HERE, kept({ isCopy: true })],
  ["a long silence without any memory", /minutes old/, stamp(LONG_OFF), HERE, null],
  [
    "a long silence with an even older file",
    /minutes old/,
    stamp(LONG_OFF),
    HERE,
    kept({ beat: 1, beatAtMs: LONG_OFF.beatAtMs - 2 * SILENCE_MS }),
  ],
  [
    "a base backup from ten minutes ago without any memory",
    /10 minutes old/,
    stamp({ beatAtMs: NOW_MS - 10 * MINUTE_MS }),
    { ...HERE, timeline: "00000002" },
    null,
  ],
];

test.each(HOLDS)("holds everything: %s", (_title, why, row, place, remembered) => {
  expect(assess(row, place, remembered).holdReason).toMatch(why);
  expect(assess(row, place, remembered).isAnother).toBe(true);
});

test("treats a database at another place as another one even if nothing is held", () => {
  expect(assess(stamp(), HERE, kept()).isAnother).toBe(false);
  expect(assess(stamp(), { ...HERE, timeline: "00000002" }, kept()).isAnother).toBe(true);
});
