// GET /mailbox/system: mail of the installation, shown only where nobody but this machine can ask.
import { expect, test, vi } from "vitest";
import * as contract from "@postloft/contract/mailbox.ts";
import { transaction } from "../platform/database.ts";
import type { ErrorEnvelope } from "../platform/http-errors.ts";
import { OUTBOX_WAIT } from "../testing/outbox-fixture.ts";
import { refusalOf, useTestServer } from "../testing/test-server.ts";
import { enqueueSystemMails, type SystemMailView } from "./system-mail.ts";

const server = useTestServer();
const MAIL = { to: "ada@example.net", subject: "Reset", text: "token", html: "<p>token</p>" };

interface List {
  data: SystemMailView[];
  total: number;
}

test("any secret key reads it, a page at a time, newest first", async () => {
  await transaction(server.database, (tx) => enqueueSystemMails(tx, [MAIL, { ...MAIL, subject: "Second" }]));
  const { byKey } = await server.createProject();
  await vi.waitFor(async () => {
    const { body } = await server.call<List>("GET", "/mailbox/system", byKey);
    expect(body.total).toBe(2);
  }, OUTBOX_WAIT);
  const { status, body } = await server.call<List & { cursor: string }>(
    "GET",
    "/mailbox/system?limit=1",
    byKey,
  );
  expect(status).toBe(200);
  expect(contract.listSystemMails.answers[200]?.parse(body)).toEqual(body);
  expect(body.data).toEqual([expect.objectContaining({ ...MAIL, subject: "Second" })]);
  const next = await server.call<List>("GET", `/mailbox/system?limit=1&cursor=${body.cursor}`, byKey);
  expect(next.body.data).toEqual([expect.objectContaining(MAIL)]);
  expect(refusalOf(await server.call("GET", "/mailbox/system"))).toBe("401 MISSING_AUTH");
  const publicKey = { key: server.project.publicKey };
  expect(refusalOf(await server.call("GET", "/mailbox/system", publicKey))).toBe("401 INVALID_API_KEY");
});

test.each([
  ["with another transport", { MAIL_TRANSPORT: "smtp://127.0.0.1:1" }],
  ["where HTTP listens for everybody", { HOST: "0.0.0.0" }],
])("%s it is not there", async (_title, settings) => {
  const other = await server.startAnother({ ROLES: "api", ...settings });
  const url = new URL(other.url);
  const answer = await fetch(`http://127.0.0.1:${url.port}/mailbox/system`, {
    headers: { authorization: `Bearer ${server.project.secretKey}` },
  });
  expect([answer.status, ((await answer.json()) as ErrorEnvelope).error.code]).toEqual([
    404,
    "RESOURCE_NOT_FOUND",
  ]);
});
