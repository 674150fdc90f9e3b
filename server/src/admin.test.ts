// Runs the admin commands as a program of their own, next to a server on the same database.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as audit from "@postloft/contract/audit.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as usersContract from "@postloft/contract/users.ts";
import { runAdmin } from "./admin.ts";
import { verifyAuditLog } from "./audit/audit-log.ts";
import { readArguments, USAGE } from "./instance/admin-commands.ts";
import { readConfig } from "./platform/settings/config.ts";
import { APP_SECRET, useTestServer } from "./testing/test-server.ts";
import { databaseUrlOf } from "./testing/database-url.ts";

const PROGRAM = fileURLToPath(new URL("./admin.ts", import.meta.url));
const NO_ONE = "00000000-0000-7000-8000-000000000000";

const server = useTestServer();
let dataDir = "";
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postloft-admin-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Returns the settings that point to the server's database. */
function settings() {
  return { APP_SECRET, DATA_DIR: dataDir, DATABASE_URL: databaseUrlOf(server.pool.options) };
}

/** Runs the program in a separate process. */
async function run(args: readonly string[], input = ""): Promise<Ran> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env["PATH"], ...settings() },
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** Returns the JSON output of a successful command, run in this process to save the start of a new one. */
async function json<Result>(args: readonly string[]): Promise<Result> {
  const said: string[] = [];
  const code = await runAdmin(
    [...args, "--json"],
    () => readConfig(settings()),
    (line) => said.push(line),
  );
  expect([code, said.length]).toEqual([0, 1]);
  return JSON.parse(said[0] ?? "") as Result;
}

const logIn = async (email: string, password: string) =>
  (await server.call(usersContract.logIn, {}, { body: { email, password } })).status;
const contactsWith = async (key: string) => (await server.call(contacts.listContacts, { key })).status;

test("creates, lists and rotates an account, its project and keys without a browser", async () => {
  const ada = await json<{ id: string; password: string }>(["create-user", "ada@example.com"]);
  expect(await logIn("ada@example.com", ada.password)).toBe(200);
  const made = await json<{ id: string; secret: string; public: string }>([
    "create-project",
    "Shop",
    "--owner",
    "ada@example.com",
  ]);
  expect(await contactsWith(made.secret)).toBe(200);
  const { users } = await json<{ users: object[] }>(["users"]);
  expect(users).toContainEqual(
    expect.objectContaining({ id: ada.id, email: "ada@example.com", projects: 1 }),
  );
  const { projects } = await json<{ projects: object[] }>(["projects"]);
  expect(projects).toContainEqual(
    expect.objectContaining({ id: made.id, name: "Shop", owner: "ada@example.com", disabled: false }),
  );
  const rotated = await json<{ secret: string }>(["rotate-keys", "--project", made.id]);
  expect([await contactsWith(made.secret), await contactsWith(rotated.secret)]).toEqual([401, 200]);
  expect(await verifyAuditLog(server.database, made.id)).toBeNull();
});

test("creates a scoped key in the owner's name, limited to its scopes and recorded in the audit log", async () => {
  const project = await server.createProject();
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  const make = ["make-key", "Report", "--project", project.id, "--scopes", "contacts:read, segments:read"];
  const made = await json<{ key: string; createdBy: string }>([...make, "--expires", expires]);
  expect(made).toMatchObject({ name: "Report", scopes: ["contacts:read", "segments:read"], networks: [] });
  expect(made).toMatchObject({ expiresAt: expires });
  expect(await contactsWith(made.key)).toBe(200);
  expect((await server.call(campaigns.listCampaigns, { key: made.key })).status).toBe(403);
  const elsewhere = await json<{ key: string; networks: string[] }>([...make, "--networks", "192.0.2.0/24"]);
  expect(elsewhere.networks).toEqual(["192.0.2.0/24"]);
  expect(await contactsWith(elsewhere.key)).toBe(401);
  const { text: log } = await server.call(audit.listAuditLog, project.byKey, {
    params: { projectId: project.id },
  });
  expect(
    JSON.parse(log).data.filter(({ action }: { action: string }) => action === "key.created"),
  ).toHaveLength(2);
});

test("removes an account only if its projects have another owner, who gets them", async () => {
  const [leaving, heir] = [await server.createProject(), await server.createProject()];
  await expect(json(["remove-account", leaving.owner.id])).rejects.toThrow(
    /is the only owner of 1 projects.*--to/,
  );
  await expect(json(["remove-account", NO_ONE])).rejects.toThrow("does not exist");
  const removed = await json<{ id: string }>(["remove-account", leaving.owner.id, "--to", heir.owner.id]);
  expect(removed.id).toBe(leaving.owner.id);
  const rows = await server.rows<{ projectId: string; role: string }>(
    "select project_id, role from memberships where user_id = $1",
    heir.owner.id,
  );
  expect(rows).toEqual(
    expect.arrayContaining([leaving, heir].map(({ id }) => ({ projectId: id, role: "OWNER" }))),
  );
  expect(await server.rows("select 1 from users where id = $1", leaving.owner.id)).toEqual([]);
});

test("reads a reset password from standard input, sets it and ends every session", async () => {
  const person = await server.signUp();
  const reset = await run(["reset-password", person.email, "--password-stdin"], "a better password\n");
  expect(reset).toMatchObject({ code: 0, err: "" });
  expect(reset.out).toContain("sessions ended");
  expect(reset.out).not.toContain("a better password");
  expect((await server.call(usersContract.getMe, { cookie: person.cookie })).status).toBe(401);
  expect(await logIn(person.email, person.password)).toBe(401);
  expect(await logIn(person.email, "a better password")).toBe(200);
});

test("confirms the address of an account, which may administer the installation only then", async () => {
  const person = await server.signUp();
  const verified = () =>
    server.rows("select verified_at is not null as is from users where id = $1", person.id);
  expect(await verified()).toEqual([{ is: false }]);
  expect(await json(["confirm-address", person.email])).toEqual({ id: person.id, email: person.email });
  expect(await verified()).toEqual([{ is: true }]);
});

test("enables a disabled project and records the reason in its audit log", async () => {
  const project = await server.createProject();
  await server.rows("update projects set disabled = true where id = $1", project.id);
  const enable = ["enable", "--project", project.id, "--reason", "the list was cleaned"];
  expect(await json(enable)).toEqual({ project: project.id, wasDisabled: true });
  expect(await json(enable)).toEqual({ project: project.id, wasDisabled: false });
  const { text: log } = await server.call(audit.listAuditLog, project.byKey, {
    params: { projectId: project.id },
  });
  expect(log).toContain("the list was cleaned");
});

test("sends a test email like any platform email and prints the transport's result", async () => {
  expect(await json(["test-mail", "ops@example.com"])).toMatchObject({
    status: "SENT",
    transport: "mailbox",
  });
});

test.for([
  [["reset-password", "nobody@example.com"], "nobody@example.com has no account on this server."],
  [["confirm-address", "nobody@example.com"], "nobody@example.com has no account on this server."],
  [["rotate-keys", "--project", NO_ONE], "Project not found."],
  [["make-key", "x", "--project", NO_ONE, "--scopes", "contacts:fly"], "scopes.0: "],
  [["make-key", "x", "--project", NO_ONE, "--scopes", "contacts:read", "--expires", "soon"], "expiresAt: "],
  [["make-key", "x", "--project", NO_ONE, "--scopes", "contacts:read"], "Project not found."],
] as const)("rejects %j with one sentence and no stack trace", async ([args, sentence]) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(sentence);
  expect(err).not.toMatch(/\n\s+at /);
});

test.for([
  [
    ["reset-password", "nobody@example.com"],
    1,
    { message: "nobody@example.com has no account on this server." },
  ],
  [["fly"], 2, { message: "Unknown command fly." }],
  [["users", "--what"], 2, { message: expect.stringContaining("--what") }],
] as const)(
  "prints the error for %j as an object on standard output with --json",
  async ([args, code, error]) => {
    const ran = await run([...args, "--json"]);
    expect({ ...ran, out: JSON.parse(ran.out) }).toEqual({ code, err: "", out: { error } });
  },
);

test("exits with 2 and prints the error and the usage when a command is not understood", async () => {
  const { code, err } = await run(["fly"]);
  expect(code).toBe(2);
  expect(err).toContain("Unknown command fly.");
  expect(err).toContain(USAGE);
});

test.for([
  [[], "Missing command."],
  [["enable", "--project", NO_ONE], "enable needs --reason."],
  [["rotate-keys", "--project", "x"], "--project must be an id."],
  [["held", "--owner", "x"], "held takes no --owner."],
  [["users", "--what"], "--what"],
  [["create-user"], "create-user takes one argument: <address>."],
] as const)("does not understand %j", ([args, fault]) => {
  expect(() => readArguments(args)).toThrow(fault);
});
