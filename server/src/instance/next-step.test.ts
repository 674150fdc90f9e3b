// Tests the next step for each setup state, on the home page and in the terminal.
import { expect, test, vi } from "vitest";
import * as v1 from "@postloft/contract/v1.ts";
import { OUTBOX_WAIT } from "../testing/outbox-fixture.ts";
import { useTestServer } from "../testing/test-server.ts";
import { homePage } from "./home-page.ts";
import { nextStep, type Progress } from "./next-step.ts";

const server = useTestServer({ DISABLE_SIGNUPS: "true" });
const ACCOUNT = { BOOTSTRAP_EMAIL: "you@example.com", BOOTSTRAP_PASSWORD: "a password for tests" };

const at = (progress: Partial<Progress>, transportName: string, signupsDisabled = false) =>
  nextStep(
    { hasAccount: true, hasMail: false, hasDomain: false, ...progress },
    { baseUrl: () => "http://here", transportName, signupsDisabled },
  );

test.each([
  ["no account", { hasAccount: false }, "mailbox", "Create your account", "/app/sign-up"],
  ["no mail", {}, "mailbox", "Send the first email", "/mailbox"],
  ["a mail that stayed here", { hasMail: true }, "mailbox", "Read your email", "/mailbox"],
  ["a mail server and no domain", { hasMail: true }, "smtp", "Verify a domain", "/app"],
  ["a mail server, a domain and no mail", { hasDomain: true }, "smtp", "Send the first email", null],
])("with %s", (_name, progress, transport, title, path) => {
  const step = at(progress, transport);
  expect([step?.title, step?.link?.path ?? null]).toEqual([title, path]);
  expect(step?.api?.commands.join() ?? "").not.toContain("undefined");
});

test("has no next step after sending from a verified domain", () =>
  expect(at({ hasMail: true, hasDomain: true }, "smtp")).toBeNull());

test("names the bootstrap settings when sign-ups are disabled", () => {
  const step = at({ hasAccount: false }, "mailbox", true);
  expect([step?.api, step?.text]).toEqual([null, expect.stringContaining("BOOTSTRAP_EMAIL")]);
});

test("the page offers sign-up as the one action and folds the commands that do the same", () => {
  const checks = { database: "ok", migrations: "ok", queue: "ok", disk: "ok" } as const;
  const page = homePage({ ready: true, checks, warnings: [] }, at({ hasAccount: false }, "mailbox"), true);
  expect(page.match(/class="action"/g)).toHaveLength(1);
  expect(page).toMatch(
    /<a class="action" href="\/app\/sign-up">Sign up<\/a><\/p><details><summary>[^<]+<\/summary>[^]*\/auth\/signup[^]*<\/details>/,
  );
});

test("the page and the terminal lead from the account to the first email", async () => {
  const page = async () => (await server.call("GET", "/")).text;
  expect(await page()).toContain("No account yet");
  const lines: string[] = [];
  await server.startAnother({ ...ACCOUNT, BOOTSTRAP_SECRET_KEY: "sk_first", ROLES: "api" }, (line) =>
    lines.push(line),
  );
  const reported = lines.join("\n");
  expect(reported).toContain("Send the first email");
  expect(reported).toMatch(
    /local mailbox: http:\S+\/mailbox\n\nSend it from a terminal:\n  curl .*hello@sandbox\.localhost/,
  );
  expect(reported).not.toContain("sk_first");
  expect(await page()).toMatch(/Send the first email.*<p>Send it from a terminal:<\/p><pre>/s);
  const mail = { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "Hello", body: "x" };
  expect((await server.call(v1.send, { key: "sk_first" }, { body: mail })).status).toBe(200);
  await vi.waitFor(async () => expect(await page()).toContain("Read your email"), OUTBOX_WAIT);
  expect(await page()).toContain('<a class="action" href="/mailbox">');
});
