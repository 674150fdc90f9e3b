// Tests GET /mailbox/system, which shows platform email to the instance admin only, if it is enabled.
import { expect, test, vi } from "vitest";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as security from "@postloft/contract/security.ts";
import * as users from "@postloft/contract/users.ts";
import * as contract from "@postloft/contract/mailbox.ts";
import { transaction } from "../../platform/database/database.ts";
import { OUTBOX_WAIT } from "../../testing/outbox-fixture.ts";
import { cookieOf, errorOf, useTestServer } from "../../testing/test-server.ts";
import { enqueuePlatformEmails } from "./platform-email.ts";

const OPERATOR = { email: "operator@example.com", password: "a password of the operator" };
const BOOTSTRAP = { BOOTSTRAP_EMAIL: " Operator@example.com", BOOTSTRAP_PASSWORD: OPERATOR.password };
const server = useTestServer({ ...BOOTSTRAP, SYSTEM_MAILBOX: "true" });
const MAIL = { to: "ada@example.net", subject: "Reset", text: "token", html: "<p>token</p>" };

async function operator() {
  return { cookie: cookieOf(await server.call(users.logIn, {}, { body: OPERATOR })) };
}

test("lists platform email for the instance admin in pages, newest first", async () => {
  const bySession = await operator();
  for (const [total, subject] of [
    [1, MAIL.subject],
    [2, "Second"],
  ] as const) {
    await transaction(server.database, (tx) => enqueuePlatformEmails(tx, [{ ...MAIL, subject }]));
    await vi.waitFor(async () => {
      const { body } = await server.call(mailbox.listPlatformEmails, bySession, {
        query: { search: "example.net" },
      });
      expect(body.total).toBe(total);
    }, OUTBOX_WAIT);
  }
  const { status, body } = await server.call(mailbox.listPlatformEmails, bySession, { query: { limit: 1 } });
  expect(status).toBe(200);
  expect(contract.listPlatformEmails.responses[200]?.parse(body)).toEqual(body);
  expect(body.data).toEqual([expect.objectContaining({ ...MAIL, subject: "Second" })]);
  const next = await server.call(mailbox.listPlatformEmails, bySession, {
    anyQuery: `?limit=1&cursor=${body.cursor}`,
  });
  expect(next.body.data).toEqual([expect.objectContaining(MAIL)]);
});

test("reads a page of many messages like a page of one", async () => {
  const bySession = await operator();
  const many = Array.from({ length: 30 }, (_, at) => ({ ...MAIL, to: `many${at}@example.com` }));
  await transaction(server.database, (tx) => enqueuePlatformEmails(tx, many));
  await vi.waitFor(async () => {
    const { status, body } = await server.call(mailbox.listPlatformEmails, bySession, {
      query: { search: "many", limit: 30 },
    });
    expect([status, body.data?.length]).toEqual([200, 30]);
    expect(body.data.every(({ text }) => text === MAIL.text)).toBe(true);
  }, OUTBOX_WAIT);
});

test("hides platform email from other keys and sessions", async () => {
  const { byKey, owner } = await server.createProject();
  expect(errorOf(await server.call(mailbox.listPlatformEmails))).toBe("401 UNAUTHORIZED");
  expect(errorOf(await server.call(mailbox.listPlatformEmails, byKey))).toBe("401 UNAUTHORIZED");
  const bySession = { cookie: owner.cookie };
  expect(errorOf(await server.call(mailbox.listPlatformEmails, bySession))).toBe("404 RESOURCE_NOT_FOUND");
});

test("finds a part of a subject or an address", async () => {
  const bySession = await operator();
  const total = async (search: string) =>
    (await server.call(mailbox.listPlatformEmails, bySession, { query: { search } })).body.total;
  expect([await total("sECO"), await total("example.net"), await total("_")]).toEqual([1, 2, 0]);
});

test("the token printed at start only opens the system mailbox", async () => {
  const lines: string[] = [];
  const other = await server.startAnother({ ROLES: "api" }, (line) => lines.push(line));
  const token = /\bop_[A-Za-z0-9]{40}\b/.exec(lines.join("\n"))?.[0] ?? "";
  const byToken = { key: token };
  expect(
    (await other.call(mailbox.listPlatformEmails, byToken, { query: { search: "example.net" } })).body.total,
  ).toBe(2);
  expect(errorOf(await other.call(mailbox.listMessages, byToken))).toBe("401 INVALID_API_KEY");
  expect(errorOf(await other.call(users.getMe, byToken))).toBe("401 UNAUTHORIZED");
  expect(errorOf(await other.call(security.getSecurity, byToken, { params: { projectId: "current" } }))).toBe(
    "401 INVALID_API_KEY",
  );
  for (const wrong of [`${token}x`, token.slice(0, -1), "op_", token.toLowerCase()])
    expect(errorOf(await other.call(mailbox.listPlatformEmails, { key: wrong }))).toBe("401 UNAUTHORIZED");
  // Each process has its own token.
  expect(errorOf(await server.call(mailbox.listPlatformEmails, byToken))).toBe("401 UNAUTHORIZED");
});

test.each([{ SYSTEM_MAILBOX: "false" }, { MAIL_TRANSPORT: "smtp://127.0.0.1:1" }])(
  "prints no token with %j",
  async (settings) => {
    const lines: string[] = [];
    await server.startAnother({ ROLES: "api", ...settings }, (line) => lines.push(line));
    expect(lines.join("\n")).toMatch(/is ready/);
    expect(lines.join("\n")).not.toContain("op_");
  },
);

test.each([
  ["without the setting", { SYSTEM_MAILBOX: "false" }],
  ["with another transport", { MAIL_TRANSPORT: "smtp://127.0.0.1:1" }],
  ["when the instance admin has no account", { BOOTSTRAP_EMAIL: "" }],
  ["for a later account with the configured address", { BOOTSTRAP_EMAIL: "late@example.com" }],
])("does not exist %s", async (_title, settings) => {
  const late = { email: "late@example.com", password: "a password of a stranger" };
  await server.call(users.signUp, {}, { body: late });
  const other = await server.startAnother({ ROLES: "api", ...settings });
  for (const account of [OPERATOR, late]) {
    const cookie = cookieOf(await other.call(users.logIn, {}, { body: account }));
    const reply = await other.call(mailbox.listPlatformEmails, { cookie });
    expect(errorOf(reply)).toBe("404 RESOURCE_NOT_FOUND");
  }
});
