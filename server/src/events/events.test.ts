// Events over HTTP: lists, filters, and pages.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as eventsContract from "@postloft/contract/events.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { transaction } from "../platform/database/database.ts";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { startJobs } from "../platform/background/jobs.ts";
import { DELETE_EVENTS_JOB, deleteEventsStep } from "./event-names.ts";
import { recordEvents } from "./events.ts";

const server = useTestServer({ ROLES: "api" });

interface Event {
  id: string;
  name: string;
  contactId: string;
  data: unknown;
  emailId: string | null;
  createdAt: string;
}
interface EventList {
  events: Event[];
  data: Event[];
  cursor: string | null;
  hasMore: boolean;
}

const list = (caller: TestCaller, path: string) => server.call<EventList>("GET", path, caller);
const pathOf = (name: string) => `/events/${encodeURIComponent(name)}`;
const names = ({ body }: { body: EventList }) => body.data.map(({ name }) => name);
const track = async (caller: TestCaller, email: string, event: string, data?: unknown) =>
  (
    await server.call<{ data: { contact: string; event: string; timestamp: string } }>(
      "POST",
      "/v1/track",
      caller,
      { email, event, ...(data === undefined ? {} : { data }) },
    )
  ).body.data;

/** Runs the jobs of a project until none is left. */
async function finishJobs(projectId: string): Promise<void> {
  const jobs = startJobs({
    database: server.database,
    kinds: { [DELETE_EVENTS_JOB]: deleteEventsStep },
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  await vi.waitFor(
    async () =>
      expect(
        await server.rows("select 1 from jobs where project_id = $1 and state <> 'completed'", projectId),
      ).toEqual([]),
    { timeout: 30_000, interval: 20 },
  );
  await jobs.stop();
}

test("events are listed newest first, as they were tracked", async () => {
  const { byKey } = await server.createProject();
  const first = await track(byKey, "ada@example.com", "opened", { a: 1, b: null, c: "" });
  await track(byKey, "ada@example.com", "closed");
  const reply = await list(byKey, "/events");
  expect(names(reply)).toEqual(["closed", "opened"]);
  expect(reply.body.events).toEqual(reply.body.data);
  expect(reply.body.data[1]).toEqual({
    id: first.event,
    name: "opened",
    contactId: first.contact,
    data: { a: 1, b: null, c: "" },
    emailId: null,
    createdAt: first.timestamp,
  });
  expect(reply.body).toMatchObject({ cursor: null, hasMore: false });
});

test("the list is filtered by name, contact and time, alone and together", async () => {
  const { byKey } = await server.createProject();
  const ada = await track(byKey, "ada@example.com", "opened");
  await track(byKey, "bob@example.com", "opened");
  const last = await track(byKey, "ada@example.com", "closed %_\\ 🦀");
  expect(names(await list(byKey, "/events?eventName=opened"))).toHaveLength(2);
  expect(names(await list(byKey, "/events?eventName=Opened"))).toEqual([]);
  expect(names(await list(byKey, `/events?eventName=${encodeURIComponent("closed %_\\ 🦀")}`))).toHaveLength(
    1,
  );
  expect(names(await list(byKey, "/events?eventName=%25"))).toEqual([]);
  expect(names(await list(byKey, `/events?contactId=${ada.contact}`))).toHaveLength(2);
  expect(names(await list(byKey, `/events?contactId=${ada.contact}&eventName=opened`))).toEqual(["opened"]);
  expect(names(await list(byKey, `/events/contact/${ada.contact}`))).toHaveLength(2);
  expect(names(await list(byKey, `/events?contactId=${randomUUID()}`))).toEqual([]);
  const since = (instant: string) => list(byKey, `/events?since=${encodeURIComponent(instant)}`);
  expect(names(await since(last.timestamp))).toContain("closed %_\\ 🦀");
  expect(names(await since("2100-01-01T00:00:00Z"))).toEqual([]);
  expect(names(await since("2000-01-01T02:00:00+02:00"))).toHaveLength(3);
});

test("pages have no gaps or repeats while events are added and deleted", async () => {
  const { byKey, id } = await server.createProject();
  const tracked: string[] = [];
  for (let at = 0; at < 7; at++) tracked.push((await track(byKey, "ada@example.com", `e${at}`)).event);
  const first = await list(byKey, "/events?limit=3");
  expect(first.body.hasMore).toBe(true);
  await track(byKey, "ada@example.com", "new");
  await server.rows("delete from events where project_id = $1 and id = $2", id, first.body.data[2]?.id);
  const second = await list(byKey, `/events?limit=3&cursor=${first.body.cursor}`);
  const third = await list(byKey, `/events?limit=3&cursor=${second.body.cursor}`);
  expect([...first.body.data, ...second.body.data, ...third.body.data].map((event) => event.id)).toEqual(
    tracked.toReversed(),
  );
  expect(third.body).toMatchObject({ cursor: null, hasMore: false });
});

test("invalid filters return 422, invalid cursors 400, and unknown contacts 404", async () => {
  const { byKey } = server.project;
  const reply = await server.call(eventsContract.listEvents, byKey, {
    query: { contactId: "x", since: "today", limit: 101, eventName: "\u0000" },
  });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([
    "contactId invalid_string",
    "eventName custom",
    "limit too_big",
    "since invalid_date",
  ]);
  for (const since of ["2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "1e9", ""])
    expect(faultsOf(await server.call(eventsContract.listEvents, byKey, { query: { since } }))).toEqual([
      "since invalid_date",
    ]);
  const contacts = Buffer.from(`contacts:${randomUUID()}`).toString("base64url");
  for (const cursor of ["", "x", contacts, Buffer.from("events:x").toString("base64url")])
    expect(errorOf(await server.call(eventsContract.listEvents, byKey, { query: { cursor } }))).toBe(
      "400 BAD_REQUEST",
    );
  for (const contact of [randomUUID(), "x", "%00"])
    expect(
      errorOf(await server.call(eventsContract.listContactEvents, byKey, { params: { contactId: contact } })),
    ).toBe("404 CONTACT_NOT_FOUND");
});

test("events recorded together keep their order and reject contacts of another project", async () => {
  const project = await server.createProject();
  const { contact } = await track(project.byKey, "ada@example.com", "first");
  const events = Array.from({ length: 50 }, (_, at) => ({
    projectId: project.id,
    contactId: contact,
    name: `batch ${at}`,
  }));
  const recorded = await transaction(server.database, (tx) => recordEvents(tx, events));
  expect(recorded.map(({ name }) => name)).toEqual(events.map(({ name }) => name));
  const { body } = await list(project.byKey, "/events?limit=50");
  expect(body.data.map(({ name }) => name)).toEqual(events.map(({ name }) => name).toReversed());
  const foreign = [{ projectId: server.project.id, contactId: contact, name: "stolen" }];
  await expect(transaction(server.database, (tx) => recordEvents(tx, foreign))).rejects.toMatchObject({
    code: "23503",
  });
});

test("names have counts and last times, and unused ones are deleted while later events stay", async () => {
  const project = await server.createProject();
  const { byKey, id: projectId } = project;
  const odd = "a/b %20 ü?";
  for (const [email, name] of [
    ["ada@example.com", odd],
    ["ada@example.com", odd],
    ["bob@example.com", odd],
    ["bob@example.com", "kept"],
  ] as const)
    await track(byKey, email, name);
  const listed = await server.call(eventsContract.listEventNames, byKey);
  expect(listed.body.eventNames).toEqual([odd, "kept"]);
  expect(listed.body.names).toMatchObject([
    { name: odd, count: 3 },
    { name: "kept", count: 1 },
  ]);
  expect((await server.call(eventsContract.getEventStats, byKey)).body).toEqual([
    { name: odd, count: 3 },
    { name: "kept", count: 1 },
  ]);
  const path = `/events/${encodeURIComponent(odd)}`;
  const segment = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Odd",
      filters: { operator: "AND", conditions: [{ field: `event.${odd}`, operator: "triggered" }] },
    },
  });
  expect((await server.call("GET", `${path}/usage`, byKey)).body).toEqual({
    usedInSegments: [{ id: segment.body.id, name: "Odd" }],
    usedInWorkflows: [],
    totalCount: 3,
    uniqueContacts: 2,
    canDelete: false,
  });
  expect(errorOf(await server.call("DELETE", path, byKey))).toBe("409 CONFLICT");
  await server.call(segments.deleteSegment, byKey, { params: { id: segment.body.id } });
  expect(
    errorOf(await server.call(eventsContract.deleteEvents, byKey, { params: { eventName: "email.sent" } })),
  ).toBe("409 CONFLICT");
  const stranger = await server.createProject();
  expect((await server.call("DELETE", path, stranger.byKey)).body).toEqual({ deletedCount: 0 });
  expect((await server.call("DELETE", path, byKey)).body).toEqual({ deletedCount: 3 });
  await track(byKey, "ada@example.com", odd);
  await finishJobs(projectId);
  expect((await server.call("GET", `${path}/usage`, byKey)).body).toMatchObject({
    totalCount: 1,
    canDelete: true,
  });
});

test("readers ignore deleted events immediately, to the microsecond, before the job runs", async () => {
  const { byKey, id: projectId } = await server.createProject();
  const { contact } = await track(byKey, "ada@example.com", "mistake", { a: 1 });
  // Times as precise as PostgreSQL's own.
  await server.rows(
    `insert into events (project_id, id, contact_id, name, created_at)
     select $1, new_id(), $2, 'mistake', date_trunc('second', now()) - interval '1 minute' + n * interval '1 microsecond'
     from generate_series(1, 9) n`,
    projectId,
    contact,
  );
  await track(byKey, "ada@example.com", "kept");
  const filter = {
    operator: "AND",
    conditions: [{ field: "event.mistake", operator: "triggered" }],
  };
  const matching = async () =>
    (await server.call(segments.previewSegment, byKey, { body: { filters: filter } })).body.count;
  const fieldsOf = async () =>
    (await server.call(eventsContract.listEventFields, byKey, { params: { eventName: "mistake" } })).body
      .fields;
  expect(await matching()).toBe(1);
  expect(await fieldsOf()).toHaveLength(1);
  expect(
    (await server.call(eventsContract.deleteEvents, byKey, { params: { eventName: "mistake" } })).body,
  ).toEqual({ deletedCount: 10 });

  expect(names(await list(byKey, "/events"))).toEqual(["kept"]);
  expect(names(await list(byKey, `/events/contact/${contact}?limit=5`))).toEqual(["kept"]);
  expect((await server.call(eventsContract.getEventStats, byKey)).body).toEqual([{ name: "kept", count: 1 }]);
  expect((await server.call(eventsContract.listEventNames, byKey)).body).toMatchObject({
    eventNames: ["kept"],
  });
  expect(
    (await server.call(eventsContract.getEventUsage, byKey, { params: { eventName: "mistake" } })).body,
  ).toMatchObject({
    totalCount: 0,
    uniqueContacts: 0,
  });
  expect(await fieldsOf()).toEqual([]);
  expect(await matching()).toBe(0);
  // A second deletion finds no events.
  expect(
    (await server.call(eventsContract.deleteEvents, byKey, { params: { eventName: "mistake" } })).body,
  ).toEqual({ deletedCount: 0 });

  await track(byKey, "ada@example.com", "mistake", { b: 1 });
  expect(names(await list(byKey, "/events"))).toEqual(["mistake", "kept"]);
  expect((await server.call(eventsContract.getEventStats, byKey)).body).toContainEqual({
    name: "mistake",
    count: 1,
  });
  expect(await fieldsOf()).toEqual([{ field: "b", type: "number", example: 1 }]);
  expect(await matching()).toBe(1);
  await finishJobs(projectId);
  expect(
    await server.rows("select data from events where project_id = $1 and name = 'mistake'", projectId),
  ).toEqual([{ data: { b: 1 } }]);
});

test("event fields are the keys of the newest data with the type of the newest value", async () => {
  const { byKey } = await server.createProject();
  const long = "x".repeat(600);
  await track(byKey, "ada@example.com", "paid", { total: "12", at: "2026-01-02", plan: "pro", old: true });
  await track(byKey, "bob@example.com", "paid", { total: 12.5, plan: null, note: long, items: [{ a: 1 }] });
  await track(byKey, "bob@example.com", "paid");
  const fields = async (caller: TestCaller, name: string) =>
    (await server.call("GET", `${pathOf(name)}/fields`, caller)).body;
  expect(await fields(byKey, "paid")).toEqual({
    fields: [
      { field: "at", type: "date", example: "2026-01-02" },
      { field: "items", type: "string", example: [{ a: 1 }] },
      { field: "note", type: "string" },
      { field: "old", type: "boolean", example: true },
      { field: "plan", type: "string", example: "pro" },
      { field: "total", type: "number", example: 12.5 },
    ],
  });
  const stranger = await server.createProject();
  for (const name of ["paid", "email.sent", "x".repeat(500), "\0"])
    expect(await fields(stranger.byKey, name)).toEqual({ fields: [] });
});

test("any text is a valid name in a path, unknown names count zero, and service events stay", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const stranger = await server.createProject();
  const nothing = {
    usedInSegments: [],
    usedInWorkflows: [],
    totalCount: 0,
    uniqueContacts: 0,
    canDelete: true,
  };
  for (const name of ["a/b", "100 %", "%2F", "names", "..", "ü \u{1F980}", "x".repeat(255)]) {
    await track(byKey, "ada@example.com", name);
    const usage = await server.call("GET", `${pathOf(name)}/usage`, byKey);
    expect(usage.body).toEqual({ ...nothing, totalCount: 1, uniqueContacts: 1 });
    expect((await server.call("GET", `${pathOf(name)}/usage`, stranger.byKey)).body).toEqual(nothing);
    expect((await server.call("DELETE", pathOf(name), stranger.byKey)).body).toEqual({ deletedCount: 0 });
    expect((await server.call("DELETE", pathOf(name), byKey)).body).toEqual({ deletedCount: 1 });
  }
  for (const name of ["never tracked", "x".repeat(500), "\0", "a\0b"]) {
    expect((await server.call("GET", `${pathOf(name)}/usage`, byKey)).body).toEqual(nothing);
    expect((await server.call("DELETE", pathOf(name), byKey)).body).toEqual({ deletedCount: 0 });
  }
  for (const name of ["email.open", "contact.subscribed", "segment.pro.entry", " EMAIL.x"]) {
    expect((await server.call("GET", `${pathOf(name)}/usage`, byKey)).body).toMatchObject({
      canDelete: false,
    });
    expect(errorOf(await server.call("DELETE", pathOf(name), byKey))).toBe("409 CONFLICT");
  }
});

test("tracks events by address or contact id and rejects service names in any spelling", async () => {
  const { byKey } = await server.createProject();
  const byAddress = await server.call(v1.trackEvent, byKey, {
    body: {
      email: "ada@example.com",
      event: "one",
      data: { a: 1 },
    },
  });
  const { contact } = byAddress.body.data;
  const byId = await server.call(v1.trackEvent, byKey, {
    body: {
      name: "two",
      contactId: contact,
      data: { b: 2 },
    },
  });
  expect(byId.body).toMatchObject({ success: true, data: { contact } });
  expect((await list(byKey, "/events")).body.data).toMatchObject([
    { name: "two", contactId: contact, data: { b: 2 } },
    { name: "one", contactId: contact, data: { a: 1 } },
  ]);
  for (const key of ["event", "name"])
    for (const name of ["email.open", " Contact.Subscribed "])
      expect(
        faultsOf(await server.call(v1.trackEvent, byKey, { body: { contactId: contact, [key]: name } })),
      ).toEqual([`${key} reserved_event`]);
  expect(faultsOf(await server.call(v1.trackEvent, byKey, { body: {} }))).toEqual([
    "email required",
    "event required",
  ]);
  const stranger = await server.createProject();
  const foreign = await server.call(v1.trackEvent, stranger.byKey, {
    body: {
      name: "two",
      contactId: contact,
    },
  });
  expect(errorOf(foreign)).toBe("404 CONTACT_NOT_FOUND");
});
