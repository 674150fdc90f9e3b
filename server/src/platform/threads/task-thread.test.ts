// Tests the results and the deadline of a thread for costly work, and that it survives any task.
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createTaskThread, TaskOverLimit } from "./task-thread.ts";

const module = new URL("../../testing/task-worker-fixture.ts", import.meta.url);
const thread = createTaskThread<number | string, number>({
  module,
  deadlineMs: 1_000,
  waitingPerOwner: 10,
  waiting: 20,
});
afterAll(() => thread.close());

test("returns the result of each task to its caller", async () => {
  const responses = await Promise.all([1, 2, 3].map((task) => thread.run("one", task)));
  expect(responses).toEqual([2, 3, 4]);
});

test("creates a task's input when it is its turn, and a failure affects only that task", async () => {
  const made: number[] = [];
  const first = Promise.withResolvers<number>();
  const making = (task: number, value: Promise<number>) =>
    thread.run("one", () => {
      made.push(task);
      return value;
    });
  const runs = Promise.allSettled([
    making(1, first.promise),
    thread.run("one", () => Promise.reject(new Error("There is none."))),
    making(3, Promise.resolve(3)),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toEqual([1]);
  first.resolve(1);
  expect(await runs).toMatchObject([{ value: 2 }, { reason: { message: "There is none." } }, { value: 4 }]);
  expect(made).toEqual([1, 3]);
});

test("a task that throws fails without affecting others", async () => {
  const [failed, done] = await Promise.allSettled([thread.run("one", "fail"), thread.run("one", 5)]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("told") } });
  expect(done).toEqual({ status: "fulfilled", value: 6 });
});

test.for(["hang", "hoard"])(
  "ends a task that would %s and starts a new thread for the next",
  async (what) => {
    const [ended, next] = await Promise.allSettled([thread.run("one", what), thread.run("two", 1)]);
    expect(ended).toMatchObject({ status: "rejected", reason: expect.any(TaskOverLimit) });
    expect(next).toEqual({ status: "fulfilled", value: 2 });
  },
);

const startThread = (deadlineMs: number) => {
  const started = createTaskThread<{ waitMs: number }, number>({
    module,
    deadlineMs,
    waitingPerOwner: 1,
    waiting: 1,
  });
  onTestFinished(() => started.close());
  return started;
};

test("counts only CPU time, unless a task waits for many deadlines", async () => {
  const [waited, ended] = await Promise.allSettled([
    // Five deadlines are longer than a busy machine stops this process.
    startThread(2_000).run("one", { waitMs: 2_200 }),
    startThread(100).run("two", { waitMs: 60_000 }),
  ]);
  expect(waited).toEqual({ status: "fulfilled", value: 2_200 });
  expect(ended).toMatchObject({ status: "rejected", reason: expect.any(TaskOverLimit) });
});
