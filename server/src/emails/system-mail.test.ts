// GET /mailbox/system: mail of the installation, shown where that is asked for, to whoever runs it and nobody else.
import { expect, test, vi } from "vitest";
import * as contract from "@postloft/contract/mailbox.ts";
import { transaction } from "../platform/database.ts";
import { OUTBOX_WAIT } from "../testing/outbox-fixture.ts";
import { cookieOf, refusalOf, useTestServer } from "../testing/test-server.ts";
import { enqueueSystemMails, type SystemMailView } from "./system-mail.ts";

const OPERATOR = { email: "operator@example.com", password: "a password of the operator" };
const BOOTSTRAP = { BOOTSTRAP_EMAIL: " Operator@example.com", BOOTSTRAP_PASSWORD: OPERATOR.password };
const server = useTestServer({ ...BOOTSTRAP, SYSTEM_MAILBOX: "true" });
const MAIL = { to: "ada@example.net", subject: "Reset", text: "token", html: "<p>token</p>" };

interface List {
  data: SystemMailView[];
  total: number;
}

async function operator() {
  return { cookie: cookieOf(await server.call("POST", "/auth/login", {}, OPERATOR)) };
}

test("the operator reads it, a page at a time, newest first", async () => {
  await transaction(server.database, (tx) => enqueueSystemMails(tx, [MAIL, { ...MAIL, subject: "Second" }]));
  const bySession = await operator();
  await vi.waitFor(async () => {
    const { body } = await server.call<List>("GET", "/mailbox/system", bySession);
    expect(body.total).toBe(2);
  }, OUTBOX_WAIT);
  const { status, body } = await server.call<List & { cursor: string }>(
    "GET",
    "/mailbox/system?limit=1",
    bySession,
  );
  expect(status).toBe(200);
  expect(contract.listSystemMails.answers[200]?.parse(body)).toEqual(body);
  expect(body.data).toEqual([expect.objectContaining({ ...MAIL, subject: "Second" })]);
  const next = await server.call<List>("GET", `/mailbox/system?limit=1&cursor=${body.cursor}`, bySession);
  expect(next.body.data).toEqual([expect.objectContaining(MAIL)]);
});

test("nobody else does, with a key or a session of their own", async () => {
  const { byKey, owner } = await server.createProject();
  expect(refusalOf(await server.call("GET", "/mailbox/system"))).toBe("401 UNAUTHORIZED");
  expect(refusalOf(await server.call("GET", "/mailbox/system", byKey))).toBe("401 UNAUTHORIZED");
  const bySession = { cookie: owner.cookie };
  expect(refusalOf(await server.call("GET", "/mailbox/system", bySession))).toBe("404 RESOURCE_NOT_FOUND");
});

test.each([
  ["without the setting", { SYSTEM_MAILBOX: "false" }],
  ["with another transport", { MAIL_TRANSPORT: "smtp://127.0.0.1:1" }],
  ["where no account is the operator's", { BOOTSTRAP_EMAIL: "" }],
  ["for an account of that address that was not the first", { BOOTSTRAP_EMAIL: "late@example.com" }],
])("%s it is not there", async (_title, settings) => {
  const late = { email: "late@example.com", password: "a password of a stranger" };
  await server.call("POST", "/auth/signup", {}, late);
  const other = await server.startAnother({ ROLES: "api", ...settings });
  for (const account of [OPERATOR, late]) {
    const cookie = cookieOf(await other.call("POST", "/auth/login", {}, account));
    const answer = await other.call("GET", "/mailbox/system", { cookie });
    expect(refusalOf(answer)).toBe("404 RESOURCE_NOT_FOUND");
  }
});
