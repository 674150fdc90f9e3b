// Whose turn it is among prepared mails: urgency, order, and destinations at their limit.
import { expect, test } from "vitest";
import { createDestinationLimits } from "./destination-limits.ts";
import { createWaitingRoom, type WaitingRoom } from "./waiting-room.ts";

interface Mail {
  name: string;
  row: { priority: number; to_address: string };
}

function mail(name: string, domain: string, priority = 3): Mail {
  return { name, row: { priority, to_address: `ada@${domain}` } };
}

function openRoom(maximum: number, ...mails: readonly Mail[]): WaitingRoom<Mail> {
  const room = createWaitingRoom<Mail>(createDestinationLimits(maximum));
  for (const one of mails) room.add(one);
  return room;
}

function takeAll(room: WaitingRoom<Mail>): string[] {
  const names: string[] = [];
  for (let next = room.take(); next !== undefined; next = room.take()) names.push(next.mail.name);
  return names;
}

test("the most urgent go first, the others in the order they came", () => {
  const room = openRoom(
    1,
    mail("campaign 1", "a.example"),
    mail("workflow", "b.example", 2),
    mail("campaign 2", "c.example"),
    mail("reset 1", "d.example", 1),
    mail("reset 2", "e.example", 1),
  );
  expect(takeAll(room)).toEqual(["reset 1", "reset 2", "workflow", "campaign 1", "campaign 2"]);
});

test("a mail whose destination is at its limit is passed over, and has its turn before any that came later", () => {
  const room = openRoom(
    1,
    mail("1", "slow.example"),
    mail("2", "slow.example"),
    mail("3", "slow.example"),
    mail("4", "fast.example"),
  );
  const first = room.take();
  expect(first?.mail.name).toBe("1");
  expect(takeAll(room)).toEqual(["4"]);
  room.add(mail("5", "slow.example"));
  first?.end("unknown");
  const second = room.take();
  expect(second?.mail.name).toBe("2");
  expect(room.take()).toBeUndefined();
  second?.end("unknown");
  expect(takeAll(room)).toEqual(["3"]);
  expect(room.size()).toBe(1);
});

test("the domains of one provider share a limit", () => {
  const room = openRoom(2, mail("1", "gmail.com"), mail("2", "googlemail.com"), mail("3", "gmail.com"));
  expect(takeAll(room)).toEqual(["1", "2"]);
});

test("what waits behind a limit is no supply: it keeps nobody from claiming more", () => {
  const room = openRoom(10, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([room.supply(), room.size()]).toEqual([2, 40]);
  room.add(mail("other", "b.example"));
  expect(room.supply()).toBe(3);
});

test("where nothing is held back everything that waits is supply, and no domain is full", () => {
  const room = openRoom(2, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([room.supply(), room.fullDomains(Infinity)]).toEqual([40, []]);
});

test("a destination is full when as many wait as may go at once, of a priority or a more urgent one", () => {
  const room = openRoom(10, mail("1", "gmail.com"), mail("2", "b.example"), mail("3", "b.example"));
  expect(room.fullDomains(3)).toEqual(["b.example"]);
  room.add(mail("4", "googlemail.com"));
  expect(room.fullDomains(3).toSorted()).toEqual(["b.example", "gmail.com", "googlemail.com"]);
  // Urgent mail is claimed all the same.
  expect(room.fullDomains(1)).toEqual([]);
  room.add(mail("5", "b.example", 1));
  room.add(mail("6", "b.example", 1));
  expect(room.fullDomains(1)).toEqual(["b.example"]);
});
