// Tests the transports of projects with a real PostgreSQL and SMTP servers.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sql } from "kysely";
import { createSealer } from "../../platform/crypto.ts";
import { OUTBOX_WAIT, useOutbox, type WantedMail } from "../../testing/outbox-fixture.ts";
import { ownTransportsOf, type OwnTransportsFixture } from "../../testing/own-transports-fixture.ts";
import {
  createScriptedTransport,
  takeEverything,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { startSmtpSink, type SmtpSink } from "../../testing/smtp-sink.ts";
import type { SmtpSinkOptions } from "../../testing/smtp-sink-rules.ts";
import type { OwnTransports } from "./own-transports.ts";

const outbox = useOutbox();
let own: OwnTransportsFixture;
let installation: ScriptedTransport;
const cleanups: Array<() => Promise<void>> = [];

beforeEach(() => {
  own = ownTransportsOf(outbox.database);
  installation = createScriptedTransport();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function sink(options: SmtpSinkOptions = {}): Promise<SmtpSink & { url: string }> {
  const started = await startSmtpSink(options);
  cleanups.push(() => started.close());
  return Object.assign(started, { url: `smtp://127.0.0.1:${started.port}?rejectUnauthorized=false` });
}

async function start(ownTransports: OwnTransports = own.open()) {
  cleanups.push(() => ownTransports.close());
  return outbox.start(installation, { ownTransports });
}

const mailsOf = (project: string, count: number, over: WantedMail = {}): WantedMail[] =>
  Array.from({ length: count }, () => ({ project, kind: "TRANSACTIONAL", ...over }));
const recipientsOf = ({ journal }: SmtpSink) => journal.flatMap(({ recipients }) => recipients).toSorted();

async function transportsOf(id: string): Promise<Array<string | null>> {
  const { rows } = await sql<{ transport: string | null }>`
    select transport from email_attempts where email_id = ${id}
    union all select transport from emails where id = ${id}`.execute(outbox.database);
  return rows.map(({ transport }) => transport);
}

test("sends the email of each project through its own server, and that of others through the installation", async () => {
  const [first, second] = [await sink(), await sink()];
  const projects = [await outbox.createProject(), await outbox.createProject(), outbox.projectId];
  const [one = "", two = "", none = ""] = projects;
  await own.add(one, first.url);
  await own.add(two, second.url);
  await outbox.enqueue(
    projects.flatMap((project) =>
      [1, 2, 3].map((at) => ({
        project,
        kind: "TRANSACTIONAL" as const,
        to: `${at}@${project}.example.com`,
      })),
    ),
  );
  await start();
  await vi.waitFor(async () => expect(await outbox.countByStatus()).toEqual({ SENT: 9 }), OUTBOX_WAIT);
  expect(recipientsOf(first)).toEqual([1, 2, 3].map((at) => `${at}@${one}.example.com`));
  expect(recipientsOf(second)).toEqual([1, 2, 3].map((at) => `${at}@${two}.example.com`));
  expect(installation.handedOver.map(({ projectId }) => projectId)).toEqual(Array(3).fill(none));
});

test("names the server of the project in the attempts, also after an outage", async () => {
  const server = await sink({ rules: [{ phase: "CONNECT", action: { reply: "421 4.3.2 closed" } }] });
  await own.add(outbox.projectId, server.url);
  const [id = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1));
  const sender = await start();
  await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
  server.setRules([]);
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await outbox.until(id, "SENT");
  expect(await transportsOf(id)).toEqual(Array(2).fill(`smtp 127.0.0.1:${server.port}`));
});

test("keeps email queued while the server of its project is out, and never uses the installation's", async () => {
  const server = await startSmtpSink();
  await server.close();
  const transportId = await own.add(outbox.projectId, `smtp://127.0.0.1:${server.port}`);
  const ids = await outbox.enqueue(mailsOf(outbox.projectId, 5));
  await start();
  await vi.waitFor(async () => {
    for (const id of ids) expect(await outbox.row(id)).toMatchObject({ status: "QUEUED", attempts: 1 });
  }, OUTBOX_WAIT);
  expect(installation.handedOver).toEqual([]);
  await vi.waitFor(async () => {
    const stored = await outbox.database
      .selectFrom("project_transports")
      .select(["failingSince", "lastError"])
      .where("id", "=", transportId)
      .executeTakeFirstOrThrow();
    expect(stored.lastError).toContain("ECONNREFUSED");
    expect(stored.failingSince).not.toBeNull();
  }, OUTBOX_WAIT);
});

test("sends 200 emails of a project while the servers of two others never respond", async () => {
  const [silent, mute, works] = [
    await sink({ rules: [{ phase: "CONNECT", action: "silent" }] }),
    await sink({ rules: [{ phase: "DOT", action: "silent" }] }),
    await sink(),
  ];
  const [deaf = "", dumb = "", well = ""] = [
    await outbox.createProject(),
    await outbox.createProject(),
    await outbox.createProject(),
  ];
  await own.add(deaf, silent.url);
  await own.add(dumb, mute.url);
  await own.add(well, works.url);
  // More than a process holds in memory, all due before the others.
  await outbox.enqueue([...mailsOf(deaf, 150), ...mailsOf(dumb, 150)]);
  const sender = await start();
  await mute.waitUntil(() => mute.openConnectionCount() >= 1);
  await outbox.enqueue([...mailsOf(well, 200), ...mailsOf(outbox.projectId, 200)]);
  sender.wake();
  await works.waitForMessages(200, 30_000);
  await vi.waitFor(() => expect(installation.handedOver).toHaveLength(200), {
    ...OUTBOX_WAIT,
    timeout: 30_000,
  });
  expect(silent.peakConnectionCount()).toBeLessThanOrEqual(10);
  expect(mute.peakConnectionCount()).toBeLessThanOrEqual(10);
  expect(new Set(recipientsOf(works)).size).toBe(200);
  silent.dropConnections();
  mute.dropConnections();
});

test("keeps email for the server of a project apart if its transport was added while queues waited for a claim", async () => {
  const mute = await sink({ rules: [{ phase: "DOT", action: "silent" }] });
  const held = Promise.withResolvers<void>();
  installation.play = async (...attempt) => {
    await held.promise;
    return takeEverything(...attempt);
  };
  // More than the common channel claims while its connections are busy, so that the queue of the last project is listed and not claimed yet.
  const busy = await Promise.all(Array.from({ length: 3 }, async () => outbox.createProject()));
  const late = await outbox.createProject();
  await outbox.enqueue([
    ...busy.flatMap((project) => mailsOf(project, 40)),
    ...mailsOf(late, 200, { kind: "CAMPAIGN" }),
  ]);
  const sender = await start();
  await vi.waitFor(async () => expect((await outbox.countByStatus())["CLAIMED"]).toBe(80), OUTBOX_WAIT);
  await own.add(late, mute.url);
  held.resolve();
  await vi.waitFor(() => expect(installation.handedOver).toHaveLength(3 * 40), {
    ...OUTBOX_WAIT,
    timeout: 30_000,
  });
  await mute.waitUntil(() => mute.openConnectionCount() >= 1);
  // The silent server holds none of the five connections of the installation's transport.
  await outbox.enqueue(mailsOf(outbox.projectId, 100));
  sender.wake();
  await vi.waitFor(() => expect(installation.handedOver).toHaveLength(3 * 40 + 100), {
    ...OUTBOX_WAIT,
    timeout: 30_000,
  });
  expect(installation.handedOver.some(({ projectId }) => projectId === late)).toBe(false);
  mute.dropConnections();
});

test("sends through the new server once the credentials of a transport are changed", async () => {
  const [before, after] = [await sink(), await sink()];
  const id = await own.add(outbox.projectId, before.url);
  await outbox.enqueue(mailsOf(outbox.projectId, 100));
  await start();
  await before.waitForMessages(1);
  await own.change(outbox.projectId, id, { to: after.url });
  // An email that passed the check before the commit may still arrive. Every later one goes to the new server.
  await vi.waitFor(async () => expect(await outbox.countByStatus()).toEqual({ SENT: 100 }), OUTBOX_WAIT);
  expect(before.journal.length + after.journal.length).toBe(100);
  expect(new Set([...recipientsOf(before), ...recipientsOf(after)]).size).toBe(100);
  expect(after.journal.length).toBeGreaterThan(0);
  await before.waitUntil(() => before.openConnectionCount() === 0, 20_000);
  expect(installation.handedOver).toEqual([]);
});

test("does not send an email through a transport that was removed after the email was prepared", async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = createScriptedTransport();
  server.play = async (message, mayLeave) => {
    reached.resolve();
    await held.promise;
    return takeEverything(message, mayLeave);
  };
  const id = await own.add(outbox.projectId, "smtp://127.0.0.1:1");
  const [email = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1));
  const { of, close } = own.open();
  const sender = await start({
    close,
    async of(...asked) {
      const choose = await of(...asked);
      return (wanted) => {
        const chosen = choose(wanted);
        return chosen.own === null ? chosen : { ...chosen, own: server };
      };
    },
  });
  await reached.promise;
  await own.remove(outbox.projectId, id);
  held.resolve();
  await vi.waitFor(async () => {
    sender.wake();
    expect(await outbox.row(email)).toMatchObject({ status: "SENT", attempts: 1 });
  }, OUTBOX_WAIT);
  expect(server.handedOver).toEqual([]);
  expect(installation.handedOver.map(({ emailId }) => emailId)).toEqual([email]);
});

test("leaves an email unconfirmed if the server drops the connection after the final dot, and sends it once", async () => {
  const server = await sink({ rules: [{ phase: "DOT", accept: true, action: "drop" }] });
  await own.add(outbox.projectId, server.url);
  const [id = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1, { kind: "CAMPAIGN" }));
  const sender = await start();
  await outbox.until(id, "UNCONFIRMED");
  server.setRules([]);
  const [later = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1));
  sender.wake();
  await outbox.until(later, "SENT");
  expect(new Set(recipientsOf(server)).size).toBe(2);
  expect(server.journal).toHaveLength(2);
  expect(installation.handedOver).toEqual([]);
});

test("chooses by domain and kind, then domain, then kind, then all, then the installation's transport", async () => {
  const servers = {
    domainAndKind: await sink(),
    domain: await sink(),
    kind: await sink(),
    all: await sink(),
  };
  const kinds = ["CAMPAIGN"];
  const domain = "sender.example";
  const ids = {
    domainAndKind: await own.add(outbox.projectId, servers.domainAndKind.url, { kinds, domain }),
    domain: await own.add(outbox.projectId, servers.domain.url, { domain }),
    kind: await own.add(outbox.projectId, servers.kind.url, { kinds }),
    all: await own.add(outbox.projectId, servers.all.url),
  };
  const sender = await start();
  for (const name of ["domainAndKind", "domain", "kind", "all"] as const) {
    await outbox.enqueue(mailsOf(outbox.projectId, 1, { kind: "CAMPAIGN" }));
    sender.wake();
    await servers[name].waitForMessages(1);
    await own.change(outbox.projectId, ids[name], { enabled: false });
  }
  const [id = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1, { kind: "CAMPAIGN" }));
  sender.wake();
  await outbox.until(id, "SENT");
  expect(installation.handedOver.map(({ emailId }) => emailId)).toEqual([id]);
  expect(Object.values(servers).map(({ journal }) => journal.length)).toEqual([1, 1, 1, 1]);
});

test("defers email with a reason if the application secret of the credentials is another one", async () => {
  const server = await sink();
  await ownTransportsOf(outbox.database, createSealer("a former secret")).add(outbox.projectId, server.url);
  const [id = ""] = await outbox.enqueue(mailsOf(outbox.projectId, 1));
  await start();
  await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
  expect(await outbox.row(id)).toMatchObject({ status: "QUEUED" });
  expect((await outbox.row(id)).reason).toContain("cannot be read");
  expect(installation.handedOver).toEqual([]);
});
