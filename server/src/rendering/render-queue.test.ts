// Tests the order in which tasks reach a render thread.
import { expect, test } from "vitest";
import { RenderQueue } from "./render-queue.ts";
import type { ThreadTask } from "./render-queue.ts";

const names = new WeakMap<ThreadTask, string>();

function task(name: string, work: ThreadTask["work"]): ThreadTask {
  const made: ThreadTask = { work, endedThreads: 0, finish: () => {} };
  names.set(made, name);
  return made;
}

const check = (name: string) => task(name, { kind: "check", source: "" });
function rendering(name: string, isMail: boolean): ThreadTask {
  const job = { contentKey: "", content: { subject: "", html: "", text: null }, variables: {} };
  const bodyOf = isMail ? { messageId: "1@x.example", attachments: [] } : null;
  return task(name, { kind: "render", job, bodyOf });
}
const mail = (name: string) => rendering(name, true);
const preview = (name: string) => rendering(name, false);

function takeAll(queue: RenderQueue): string[] {
  const taken: string[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) taken.push(names.get(next) ?? "");
  return taken;
}

test("runs checks and previews before emails, with one email among every four tasks", () => {
  const queue = new RenderQueue();
  for (const number of [1, 2, 3]) queue.push(mail(`mail ${number}`));
  for (const number of [1, 2, 3, 4]) queue.push(check(`check ${number}`));
  queue.push(preview("preview"));
  expect(queue.length).toBe(8);
  expect(takeAll(queue)).toEqual([
    "check 1",
    "check 2",
    "check 3",
    "mail 1",
    "check 4",
    "preview",
    "mail 2",
    "mail 3",
  ]);
});

test("puts tasks back at the front of their kind, in their order", () => {
  const queue = new RenderQueue();
  queue.push(mail("mail 3"));
  queue.push(check("check 2"));
  queue.putBack([mail("mail 1"), check("check 1"), mail("mail 2")]);
  expect(takeAll(queue)).toEqual(["check 1", "check 2", "mail 1", "mail 2", "mail 3"]);
});

test("removes tasks that were filtered out or cleared", () => {
  const queue = new RenderQueue();
  const [first, second] = [mail("first"), check("second")];
  queue.push(first);
  queue.push(second);
  queue.keepOnly((one) => one !== first);
  expect(queue.clear()).toEqual([second]);
  expect(queue.length).toBe(0);
});
