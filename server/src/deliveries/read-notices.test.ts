// Checks that costly notices don't delay others: each batch limits their time and retries the rest later.
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { AppError } from "../platform/app-error.ts";
import { TaskOverLimit } from "../platform/threads/task-thread.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import type { ReportReader } from "../domains/reports/unpack-apart.ts";
import { bounceMail } from "../testing/incoming-mail.ts";
import { makeProject, makeSentMails } from "../testing/sent-mails.ts";
import { createDeliveries } from "./deliveries.ts";
import { createInterpreter } from "./interpret-notices.ts";
import { createNoticeStore, readNotices } from "./notices.ts";
import { createReturnPaths } from "./return-path.ts";

const returnPaths = createReturnPaths("a secret that is long enough");
const log = createLog({ level: "silent" });

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
beforeEach(async () => {
  await sql`delete from notices`.execute(database);
});
afterAll(async () => testDatabase.drop());

const store = (raw: Buffer, recipient: string) =>
  createNoticeStore(database).store({
    source: "smtp",
    providerId: newId(),
    raw,
    sender: "",
    recipient,
    toldAt: null,
  });

/** The status of all notices. */
const inbox = async () =>
  (
    await sql<{ result: string | null; isDue: boolean; isKept: boolean }>`
      select result, due_at <= now() as is_due, raw is not null as is_kept from notices order by id`.execute(
      database,
    )
  ).rows;

async function readWith(read: ReportReader["read"]): Promise<void> {
  const interpret = createInterpreter({
    deliveries: createDeliveries({ guard: async () => undefined }),
    returnPaths,
    ownDomains: ["bounce.example", "in.example"],
    reportReader: { read },
  });
  await readNotices({ database, interpret, log }, "smtp", 20);
}

test("limits the time for slow reports per batch and applies a bounce behind them", async () => {
  const projectId = await makeProject(database);
  const [mail] = await makeSentMails(database, projectId, 1);
  for (let count = 0; count < 6; count++) await store(Buffer.from("x"), "dmarc@in.example");
  await store(bounceMail(), `${returnPaths.localPartOf(projectId, mail?.id ?? "")}@bounce.example`);
  // A transaction idle for ten seconds loses its connection and everything read in it.
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  await readWith(async () => {
    nowMs += 1_900;
    return { fault: "slow" };
  });
  expect(await inbox()).toEqual([
    ...[1, 2].map(() => ({ result: "ignored: slow", isDue: true, isKept: false })),
    ...[3, 4, 5, 6].map(() => ({ result: null, isDue: false, isKept: true })),
    { result: "hard-bounce", isDue: true, isKept: false },
  ]);
});

const tooLong = async () => Promise.reject(new TaskOverLimit("It took longer than 2000 ms."));

test("retries a slow message while the machine may be to blame, then ignores it permanently", async () => {
  await store(Buffer.from("x"), "dmarc@in.example");
  await readWith(tooLong);
  expect(await inbox()).toEqual([{ result: null, isDue: false, isKept: true }]);
  await sql`update notices set due_at = now(), received_at = now() - interval '10 minutes'`.execute(database);
  await readWith(tooLong);
  expect(await inbox()).toEqual([{ result: "ignored: took too long to read", isDue: true, isKept: false }]);
});

test("reports of any age wait while other requests keep the thread busy", async () => {
  await store(Buffer.from("x"), "dmarc@in.example");
  await sql`update notices set received_at = now() - interval '1 hour'`.execute(database);
  await readWith(() => new Promise(() => undefined));
  await sql`update notices set due_at = now()`.execute(database);
  await readWith(async () => Promise.reject(new AppError("RATE_LIMIT_EXCEEDED")));
  expect(await inbox()).toEqual([{ result: null, isDue: false, isKept: true }]);
});

test("parses a bounce with a very long original email on the thread and applies it", async () => {
  const projectId = await makeProject(database);
  const [mail] = await makeSentMails(database, projectId, 1);
  const original = ["Subject: Hello", "", ...Array.from({ length: 20_000 }, () => "x")];
  const path = `${returnPaths.localPartOf(projectId, mail?.id ?? "")}@bounce.example`;
  await store(bounceMail({ original }), path);
  // On a busy machine the thread may exceed the time of a batch, and then the notice returns later.
  const readAgain = async () => {
    await sql`update notices set due_at = now()`.execute(database);
    await readWith(async () => ({ fault: "none here" }));
    return inbox();
  };
  await expect
    .poll(readAgain, { timeout: 30_000 })
    .toEqual([{ result: "hard-bounce", isDue: true, isKept: false }]);
});
