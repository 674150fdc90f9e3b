// A commit notifies once, a rollback nobody: for transactions, their parts that fail alone, retries, statements and HTTP commits.
import { Client } from "pg";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import * as contactBulk from "@postloft/contract/contact-bulk.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { useTestServer } from "../testing/test-server.ts";
import { subtransaction, transaction } from "./database/database.ts";
import { afterCommit, notify, subscribe, type Topic } from "./notify.ts";

const server = useTestServer();

/** Records the effects of this test in order. */
function watch(...topics: Topic[]): string[] {
  const seen: string[] = [];
  for (const topic of topics) onTestFinished(subscribe(server.database, topic, () => void seen.push(topic)));
  return seen;
}

test("a transaction notifies each topic once, after its commit", async () => {
  const seen = watch("jobs", "emails");
  await transaction(server.database, async (tx) => {
    notify(tx, "jobs");
    notify(tx, "emails");
    notify(tx, "jobs");
    afterCommit(tx, () => seen.push("logged"));
    await sql`select 1`.execute(tx);
    expect(seen).toEqual([]);
  });
  expect(seen).toEqual(["logged", "jobs", "emails"]);
});

test("a transaction that is rolled back has no effects", async () => {
  const seen = watch("jobs");
  const work = transaction(server.database, async (tx) => {
    notify(tx, "jobs");
    afterCommit(tx, () => seen.push("logged"));
    throw new Error("undone");
  });
  await expect(work).rejects.toThrow("undone");
  expect(seen).toEqual([]);
});

test("a commit that fails has no effects", async () => {
  const seen = watch("jobs");
  await sql`create table refused (id int, constraint refused_once unique (id) deferrable initially deferred)`.execute(
    server.database,
  );
  onTestFinished(async () => void (await sql`drop table refused`.execute(server.database)));
  const work = transaction(server.database, async (tx) => {
    await sql`insert into refused values (1), (1)`.execute(tx);
    notify(tx, "jobs");
  });
  await expect(work).rejects.toThrow("refused_once");
  expect(seen).toEqual([]);
});

test("a transaction that is tried again has the effects of its last attempt only", async () => {
  const seen = watch("jobs");
  let attempts = 0;
  await transaction(server.database, async (tx) => {
    attempts++;
    afterCommit(tx, () => seen.push(`attempt ${attempts}`));
    if (attempts === 1)
      await sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`.execute(tx);
    notify(tx, "jobs");
  });
  expect(seen).toEqual(["attempt 2", "jobs"]);
});

test("a part that is rolled back alone withdraws its effects, and no others", async () => {
  const seen = watch("jobs", "emails", "webhooks");
  await transaction(server.database, async (tx) => {
    notify(tx, "jobs");
    await subtransaction(tx, async () => notify(tx, "emails"));
    const failing = subtransaction(tx, async () => {
      notify(tx, "webhooks");
      afterCommit(tx, () => seen.push("logged"));
      await sql`select 1 / 0`.execute(tx);
    });
    await expect(failing).rejects.toThrow("division by zero");
  });
  expect(seen).toEqual(["jobs", "emails"]);
});

test("a statement without a transaction notifies immediately, until the subscription ends", () => {
  let count = 0;
  const unsubscribe = subscribe(server.database, "jobs", () => void count++);
  notify(server.database, "jobs");
  unsubscribe();
  notify(server.database, "jobs");
  expect(count).toBe(1);
});

test("an HTTP call notifies other processes once its commit can be seen", async () => {
  const listener = new Client(server.pool.options);
  await listener.connect();
  onTestFinished(() => listener.end());
  const seen: Array<Promise<unknown>> = [];
  listener.on("notification", ({ payload }) => {
    if (payload === "jobs") seen.push(server.rows("select kind from jobs"));
  });
  await listener.query("listen postloft_work");
  const queued = await server.call(contactBulk.bulkUnsubscribe, server.project.byKey, {
    body: {
      mode: "query",
      filter: { search: "nobody" },
    },
  });
  expect(queued.status).toBe(202);
  await expect.poll(() => seen.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(await seen[0]).toHaveLength(1);
});

test("a change of a contact notifies workflows once, in projects where they subscribe to changes", async () => {
  const { byKey, id: projectId } = await server.createProject();
  const { body } = await server.call(contacts.upsertContact, byKey, { body: { email: "ada@example.com" } });
  const seen = watch("workflows");
  const notified = async (times: number) => {
    const change = { projectId, contactId: body.id };
    await transaction(server.database, async (tx) => {
      for (let time = 0; time < times; time++) await enqueueContactEvents(tx, [change]);
    });
    return [...seen];
  };
  const subscribed =
    "insert into event_subscriptions (project_id, event_name, subscriber) values ($1, '*', $2)";
  await server.rows(subscribed, projectId, "segments");
  expect(await notified(1)).toEqual([]);
  await server.rows(subscribed, projectId, "workflows");
  expect(await notified(2)).toEqual(["workflows"]);
});
