// Tests how a database is assessed by its row, its place and the memory of this machine.
import { expect, test } from "vitest";
import { judge, SILENCE_MS, type Kept, type Place, type Stamp } from "./rules.ts";

const NOW_MS = 1_800_000_000_000;
const ID = "0198d3a0-0000-7000-8000-000000000001";
const HERE: Place = { systemIdentifier: "7711", databaseOid: "5", timeline: "00000001" };
const MINUTE_MS = 60_000;

/** Returns the row of a database whose last heartbeat, number 100, is five seconds old. */
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
  ["the very first start", stamp({ id: null }), HERE, null],
  ["a start with a file that agrees", stamp(), HERE, kept()],
  ["a file that is a little behind", stamp(), HERE, kept({ beat: 90, beatAtMs: NOW_MS - 60_000 })],
  ["a machine without a file, shortly after the last heartbeat", stamp(), HERE, null],
  ["a file of another installation", stamp(), HERE, kept({ id: "another", beat: 900 })],
  ["a night off, with a file that agrees", stamp(LONG_OFF), HERE, kept(LONG_OFF)],
  [
    "moved in order: the file has the last heartbeat",
    stamp(LONG_OFF),
    { ...HERE, systemIdentifier: "8" },
    kept(LONG_OFF),
  ],
  ["a standby took over that had everything", stamp(), { ...HERE, timeline: "00000002" }, kept()],
  ["a standby took over, nothing is remembered", stamp(), { ...HERE, timeline: "00000002" }, null],
  ["what may not be asked", stamp(), { systemIdentifier: null, databaseOid: null, timeline: null }, kept()],
  [
    "a file from before others dealt with it",
    stamp({ wentBackAtMs: NOW_MS - 1_000 }),
    HERE,
    kept({ incarnation: 2, beat: 400 }),
  ],
  [
    "a process that lives and remembers all that the database forgot",
    stamp(),
    { ...HERE, timeline: "00000002" },
    kept({ beat: 101, rememberedSinceMs: NOW_MS - 60_000 }),
  ],
  ["a file with less than another process found", stamp(), HERE, kept({ incarnation: 2, beat: 50 })],
];

test.each(GOES_ON)("continues: %s", (_title, row, place, remembered) => {
  expect(judge(row, place, remembered).holdReason).toBeNull();
});

const HOLDS: ReadonlyArray<[string, RegExp, Stamp, Place, Kept | null]> = [
  ["it was asked for", /asked/, stamp({ isHoldAsked: true }), HERE, kept()],
  ["the file knows a later heartbeat", /went back/, stamp(), HERE, kept({ beat: 101 })],
  ["the file knows a later incarnation", /went back/, stamp(), HERE, kept({ incarnation: 4, beat: 60 })],
  [
    "another process took over first, and this one knew more",
    /went back/,
    stamp(),
    HERE,
    kept({ incarnation: 2, beat: 51 }),
  ],
  [
    "a later restore, after one that was dealt with",
    /went back/,
    stamp({ wentBackAtMs: NOW_MS - 10 * MINUTE_MS }),
    HERE,
    kept({ beat: 200 }),
  ],
  ["another server, nothing remembered", /copy/, stamp(), { ...HERE, systemIdentifier: "8" }, null],
  ["another database of the server", /copy/, stamp(), { ...HERE, databaseOid: "77" }, kept({ beat: 99 })],
  [
    "a process that lives and remembers less than the database forgot",
    /went back/,
    stamp(),
    HERE,
    kept({ beat: 101, rememberedSinceMs: NOW_MS - 1_000 }),
  ],
  ["a copied data folder", /folder is a copy/, stamp(), HERE, kept({ isCopy: true })],
  ["a long silence, nothing remembered", /minutes old/, stamp(LONG_OFF), HERE, null],
  [
    "a long silence, and a file that is older still",
    /minutes old/,
    stamp(LONG_OFF),
    HERE,
    kept({ beat: 1, beatAtMs: LONG_OFF.beatAtMs - 2 * SILENCE_MS }),
  ],
  [
    "a base backup of ten minutes ago, nothing remembered",
    /10 minutes old/,
    stamp({ beatAtMs: NOW_MS - 10 * MINUTE_MS }),
    { ...HERE, timeline: "00000002" },
    null,
  ],
];

test.each(HOLDS)("holds: %s", (_title, why, row, place, remembered) => {
  expect(judge(row, place, remembered).holdReason).toMatch(why);
  expect(judge(row, place, remembered).isAnother).toBe(true);
});

test("treats a database at another place as another one even if nothing is held", () => {
  expect(judge(stamp(), HERE, kept()).isAnother).toBe(false);
  expect(judge(stamp(), { ...HERE, timeline: "00000002" }, kept()).isAnother).toBe(true);
});
