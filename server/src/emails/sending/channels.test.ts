// Tests how channels share connections and memory. Pure.
import { expect, test } from "vitest";
import type { Ready } from "../rows/prepared.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import { createChannels, type Channel, type Channels } from "./channels.ts";

let made = 0;

function rowOf(projectId: string): ClaimedRow {
  const id = `mail${++made}`;
  return { id, projectId, priority: 1, toAddress: `${id}@${id}.example` } as ClaimedRow;
}

/** Makes emails of a project ready in its channel. */
function add(channels: Channels, projectId: string, count: number, bytes = 1): Channel {
  const channel = channels.of(projectId);
  if (channel === null) throw new Error("There is no channel.");
  const rows = Array.from({ length: count }, () => rowOf(projectId));
  const batch = channel.admit(rows);
  if (batch === null) throw new Error("Nothing was admitted.");
  for (const row of rows) {
    const mail = { kind: "ready", row, message: { raw: Buffer.alloc(bytes) } } as unknown as Ready;
    channels.hold(channel, mail);
    channel.ready(batch, mail);
  }
  channel.prepared(batch);
  return channel;
}

const startAll = (channels: Channels) => {
  const started = [];
  for (let next = channels.next(); next !== undefined; next = channels.next()) started.push(next);
  return started;
};
const countOf = (started: ReturnType<typeof startAll>, projectId: string) =>
  started.filter(({ mail }) => mail.row.projectId === projectId).length;

test("gives a free connection to the project with the fewest", () => {
  const channels = createChannels({ connections: 5 });
  for (const slow of ["s1", "s2", "s3", "s4", "s5"]) add(channels, slow, 20);
  const started = startAll(channels);
  expect(started).toHaveLength(50);
  add(channels, "fast", 20);
  const [first, ...others] = [...startAll(channels)];
  // One connection beyond the limit, which every channel may have.
  expect([first?.mail.row.projectId, others.length]).toEqual(["fast", 0]);
  // The slow servers end one submission each, and every freed connection goes to the fast project.
  for (const ended of started.slice(0, 6)) ended.answered("taken");
  expect(countOf(startAll(channels), "fast")).toBeGreaterThanOrEqual(4);
});

test("claims no further email for channels that hold some while all hold too many bytes", () => {
  const channels = createChannels({ connections: 5 });
  const large = add(channels, "large", 3, 100 * 1024 * 1024);
  const none = channels.of("none");
  expect([channels.hasRoom(large), none !== null && channels.hasRoom(none)]).toEqual([false, true]);
  const [first] = startAll(channels);
  if (first === undefined) throw new Error("Nothing was started.");
  first.channel.ended(first.mail, "booked");
  channels.letGo(first.mail);
  expect(channels.hasRoom(large)).toBe(true);
});

test("channels that always have email make room for projects that wait, those that sent most first", () => {
  const channels = createChannels({ connections: 5 });
  const hasRoom = (projectId: string) => {
    const channel = channels.of(projectId);
    return channel !== null && channels.hasRoom(channel);
  };
  add(channels, "busy", 1);
  const [sent] = startAll(channels);
  const others = Array.from({ length: 99 }, (_, at) => `p${at}`);
  for (const other of others) add(channels, other, 1);
  expect(hasRoom("busy")).toBe(true);
  expect(channels.of("waits")).toBeNull();
  expect(["busy", ...others].filter((one) => !hasRoom(one))).toEqual(["busy"]);
  // Some more make room while it is not empty yet, and most go on.
  for (let poll = 0; poll < 100; poll++) expect(channels.of("waits")).toBeNull();
  expect(others.filter(hasRoom)).toHaveLength(90);
  sent?.answered("taken");
  sent?.channel.ended(sent.mail, "booked");
  add(channels, "waits", 1);
  expect(channels.of("busy")).toBeNull();
});

test("a channel that made room begins again when no other project took it", () => {
  const channels = createChannels({ connections: 5 });
  for (let at = 0; at < 100; at++) add(channels, `p${at}`, 1);
  const started = startAll(channels);
  expect(channels.of("waits")).toBeNull();
  for (const { channel, mail, answered } of started) {
    answered("taken");
    channel.ended(mail, "booked");
  }
  for (const { mail } of started) {
    const channel = channels.of(mail.row.projectId);
    expect(channel !== null && channels.hasRoom(channel)).toBe(true);
  }
});

test("keeps the fault of a channel that makes room for another one", () => {
  const channels = createChannels({ connections: 5 });
  for (let at = 0; at < 100; at++) channels.of(`p${at}`);
  channels.of("p0")?.noteFault();
  expect(channels.of("another")).not.toBeNull();
  expect(channels.takeFault()).toBe(true);
  expect(channels.takeFault()).toBe(false);
});
