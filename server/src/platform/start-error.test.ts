// Tests the explanations of start errors with real errors of sockets and PostgreSQL.
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { readConfig } from "./settings/config.ts";
import { explainStartError } from "./start-error.ts";

const SETTINGS = { HOST: "127.0.0.1", PORT: 3000, SMTP_PORT: 2525, DATABASE_URL: undefined };

async function listen(port: number, host: string): Promise<Server> {
  const server = createServer();
  onTestFinished(() => void server.close());
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => "it worked",
    (error: unknown) => error,
  );
}

test("names the setting of a port that is in use", async () => {
  const { port } = (await listen(0, "127.0.0.1")).address() as AddressInfo;
  const error = await failureOf(() => listen(port, "127.0.0.1"));
  const said = `Port ${port} is in use at 127.0.0.1: another program is listening there, or Postloft is already running. Stop it, or set`;
  expect(explainStartError(error, { ...SETTINGS, PORT: port })?.message).toBe(
    `${said} PORT to another port.`,
  );
  expect(explainStartError(error, { ...SETTINGS, SMTP_PORT: port })?.message).toBe(
    `${said} SMTP_PORT to another port.`,
  );
  const submission = { ...SETTINGS, SUBMISSION_HOST: "127.0.0.1", SUBMISSION_TLS_PORT: port };
  expect(explainStartError(error, submission)?.message).toBe(`${said} SUBMISSION_TLS_PORT to another port.`);
});

test.for([
  ["203.0.113.1", "203.0.113.1 is not an address of this machine."],
  ["no-host.invalid", "HOST no-host.invalid has no address."],
] as const)("explains the error for HOST=%s", async ([host, said]) => {
  const error = await failureOf(() => listen(0, host));
  expect(explainStartError(error, { ...SETTINGS, HOST: host })?.message).toContain(said);
  const submission = { ...SETTINGS, SUBMISSION_HOST: host, SUBMISSION_PORT: 0 };
  const saidOfSubmission = said.replace("HOST no", "SUBMISSION_HOST no");
  expect(explainStartError(Object.assign(Object(error), { port: 0 }), submission)?.message).toContain(
    saidOfSubmission,
  );
});

test.for([
  ["another port", { port: 1 }, ":1/postgres) does not respond"],
  ["a host that does not exist", { host: "no-host.invalid" }, "no-host.invalid:"],
  ["a database that does not exist", { database: "nowhere" }, "/nowhere) does not exist."],
  ["a wrong password", { password: "wrong secret" }, "/postgres) rejects the user or password."],
] as const)("explains a DATABASE_URL with %s without its password", async ([, wrong, said]) => {
  const place = { ...inject("postgres"), database: "postgres", ...wrong };
  const client = new Client(place);
  const error = await failureOf(() => client.connect());
  const password = encodeURIComponent(place.password ?? "");
  const DATABASE_URL = `postgres://${place.user}:${password}@${place.host}:${place.port}/${place.database}`;
  const explained = explainStartError(error, { ...SETTINGS, DATABASE_URL })?.message ?? "";
  expect(explained).toContain("The database of DATABASE_URL (");
  expect(explained).toContain(said);
  expect(explained).not.toContain(password);
});

test("explains a full disk of an embedded or external database", () => {
  for (const DATABASE_URL of [undefined, "postgres://a:b@c/d"])
    expect(explainStartError({ code: "53100" }, { ...SETTINGS, DATABASE_URL })?.message).toMatch(
      /^The database of (DATA_DIR|DATABASE_URL \(c:5432\/d\)) has no space left because its disk is full\./,
    );
});

test("leaves other errors unchanged", () => {
  const url = { ...SETTINGS, DATABASE_URL: "postgres://a:b@c/d" };
  for (const error of [
    null,
    new TypeError("a bug"),
    "text",
    { code: "42601" },
    { code: "ECONNRESET", syscall: "read" },
  ])
    expect(explainStartError(error, url)).toBeNull();
  expect(explainStartError({ code: "ECONNREFUSED", syscall: "connect" }, SETTINGS)).toBeNull();
});

test("rejects an invalid DATABASE_URL before anything starts", () => {
  for (const url of ["postgres://user:pa#ss@host/db", "postgres://user:pass@/db", "mysql://host/db"])
    expect(() => readConfig({ DATABASE_URL: url, APP_SECRET: "a secret for tests, long enough" })).toThrow(
      "DATABASE_URL: must be a URL such as postgres://",
    );
});
