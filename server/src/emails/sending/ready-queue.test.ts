// Whose turn it is among prepared mails: urgency, order, and destinations at their limit.
import { expect, test } from "vitest";
import { createDestinationLimits } from "./destination-limits.ts";
import { createReadyQueue, type ReadyQueue } from "./ready-queue.ts";

interface Mail {
  name: string;
  row: { priority: number; toAddress: string };
}

function mail(name: string, domain: string, priority = 3): Mail {
  return { name, row: { priority, toAddress: `ada@${domain}` } };
}

function queueOf(maximum: number, ...mails: readonly Mail[]): ReadyQueue<Mail> {
  const ready = createReadyQueue<Mail>(createDestinationLimits(maximum));
  for (const one of mails) ready.add(one);
  return ready;
}

function takeAll(ready: ReadyQueue<Mail>): string[] {
  const names: string[] = [];
  for (let next = ready.take(); next !== undefined; next = ready.take()) names.push(next.mail.name);
  return names;
}

test("the most urgent go first, the others in the order they came", () => {
  const ready = queueOf(
    1,
    mail("campaign 1", "a.example"),
    mail("workflow", "b.example", 2),
    mail("campaign 2", "c.example"),
    mail("reset 1", "d.example", 1),
    mail("reset 2", "e.example", 1),
  );
  expect(takeAll(ready)).toEqual(["reset 1", "reset 2", "workflow", "campaign 1", "campaign 2"]);
});

test("a mail whose destination is at its limit is passed over, and has its turn before any that came later", () => {
  const ready = queueOf(
    1,
    mail("1", "slow.example"),
    mail("2", "slow.example"),
    mail("3", "slow.example"),
    mail("4", "fast.example"),
  );
  const first = ready.take();
  expect(first?.mail.name).toBe("1");
  expect(takeAll(ready)).toEqual(["4"]);
  ready.add(mail("5", "slow.example"));
  first?.end("unknown");
  const second = ready.take();
  expect(second?.mail.name).toBe("2");
  expect(ready.take()).toBeUndefined();
  second?.end("unknown");
  expect(takeAll(ready)).toEqual(["3"]);
  expect(ready.size()).toBe(1);
});

test("the domains of one provider share a limit", () => {
  const ready = queueOf(2, mail("1", "gmail.com"), mail("2", "googlemail.com"), mail("3", "gmail.com"));
  expect(takeAll(ready)).toEqual(["1", "2"]);
});

test("what waits behind a limit is no supply: it keeps nobody from claiming more", () => {
  const ready = queueOf(10, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([ready.supply(), ready.size()]).toEqual([2, 40]);
  ready.add(mail("other", "b.example"));
  expect(ready.supply()).toBe(3);
});

test("where nothing is held back everything that waits is supply, and no domain is full", () => {
  const ready = queueOf(2, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([ready.supply(), ready.fullDomains(Infinity)]).toEqual([40, []]);
});

test("a destination is full when as many wait as may go at once, of a priority or a more urgent one", () => {
  const ready = queueOf(10, mail("1", "gmail.com"), mail("2", "b.example"), mail("3", "b.example"));
  expect(ready.fullDomains(3)).toEqual(["b.example"]);
  ready.add(mail("4", "googlemail.com"));
  expect(ready.fullDomains(3).toSorted()).toEqual(["b.example", "gmail.com", "googlemail.com"]);
  // Urgent mail is claimed all the same.
  expect(ready.fullDomains(1)).toEqual([]);
  ready.add(mail("5", "b.example", 1));
  ready.add(mail("6", "b.example", 1));
  expect(ready.fullDomains(1)).toEqual(["b.example"]);
});
