// Tests that the program continues if its output pipe is closed or its log disk is full.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { createTestDatabase } from "../server/src/platform/database/test-database.ts";
import { freePort } from "../server/src/testing/free-port.ts";
import { createApiClient, type EmailItem, type Sent } from "./api-client.ts";
import { BOOTSTRAP, MAIN, makeDataFolder } from "./program.ts";
import { waitUntil } from "./wait-until.ts";
import { databaseUrlOf } from "../server/src/testing/database-url.ts";

const WAIT_MS = 45_000;
/** A Linux device on which every write fails with "no space left". */
const FULL_DISK = "/dev/full";

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Starts the program with both streams going to `output` and waits until its API responds. */
async function start(output: "pipe" | number): Promise<{ child: ChildProcess; url: string }> {
  const database = await createTestDatabase();
  const own = await freePort();
  const folder = await makeDataFolder();
  const child = spawn(process.execPath, [MAIN], {
    stdio: ["ignore", output, output],
    env: {
      ...BOOTSTRAP,
      PATH: process.env["PATH"],
      PORT: String(own),
      APP_SECRET: "a secret for tests, long enough",
      DATA_DIR: folder.path,
      DATABASE_URL: databaseUrlOf(database.connection),
    },
  });
  cleanups.push(
    folder.remove,
    () => database.drop(),
    () => child.kill("SIGKILL"),
  );
  const url = `http://127.0.0.1:${own}`;
  await waitUntil("the program", WAIT_MS, async () => (await fetch(`${url}/health`)).ok);
  return { child, url };
}

/** Sends two emails, stops the program and returns its exit code. */
async function sendAndStop({ child, url }: { child: ChildProcess; url: string }): Promise<unknown> {
  const api = createApiClient(url);
  for (const to of ["ada@example.com", "bob@example.com"]) {
    const mail = { from: "news@sandbox.localhost", to, subject: "Hello", body: "<p>Hello</p>" };
    const { data } = await api.post<Sent>("/v1/send", mail);
    await waitUntil("the delivery", WAIT_MS, async () => {
      const { status } = await api.get<EmailItem>(`/emails/${data.emails[0]?.email}`);
      return status === "DELIVERED";
    });
  }
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await ended;
  return code;
}

test("delivers email after the reader of its output has gone", async () => {
  const program = await start("pipe");
  program.child.stdout?.destroy();
  program.child.stderr?.destroy();
  expect(await sendAndStop(program)).toBe(0);
});

test.for([FULL_DISK].filter(existsSync))(
  "delivers email while its output goes to a full disk, %s",
  async (path) => {
    const output = openSync(path, "w");
    cleanups.push(() => closeSync(output));
    expect(await sendAndStop(await start(output))).toBe(0);
  },
);
