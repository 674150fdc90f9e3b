// Tests the order of prepared emails by priority, arrival and destination limits.
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

test("takes emails by priority and then in order of arrival", () => {
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

test("skips an email for a destination at its limit and keeps its position", () => {
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

test("applies one limit to all domains of a provider", () => {
  const ready = queueOf(2, mail("1", "gmail.com"), mail("2", "googlemail.com"), mail("3", "gmail.com"));
  expect(takeAll(ready)).toEqual(["1", "2"]);
});

test("leaves emails behind a destination limit out of the supply", () => {
  const ready = queueOf(10, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([ready.supply(), ready.size()]).toEqual([2, 40]);
  ready.add(mail("other", "b.example"));
  expect(ready.supply()).toBe(3);
});

test("counts all waiting emails as supply and no domain as full without a limit", () => {
  const ready = queueOf(2, ...Array.from({ length: 40 }, (_, at) => mail(String(at), "a.example")));
  expect([ready.supply(), ready.fullDomains(Infinity)]).toEqual([40, []]);
});

test("reports a destination as full at its limit for this or a higher priority", () => {
  const ready = queueOf(10, mail("1", "gmail.com"), mail("2", "b.example"), mail("3", "b.example"));
  expect(ready.fullDomains(3)).toEqual(["b.example"]);
  ready.add(mail("4", "googlemail.com"));
  expect(ready.fullDomains(3).toSorted()).toEqual(["b.example", "gmail.com", "googlemail.com"]);
  // Urgent emails are still claimed.
  expect(ready.fullDomains(1)).toEqual([]);
  ready.add(mail("5", "b.example", 1));
  ready.add(mail("6", "b.example", 1));
  expect(ready.fullDomains(1)).toEqual(["b.example"]);
});
