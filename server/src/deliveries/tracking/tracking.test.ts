// Tests opens and clicks over HTTP, from the email in the mailbox to the recorded counts, and visits that must not count.
import { beforeAll, expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as eventsContract from "@postloft/contract/events.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import type { TrackingMode } from "@postloft/contract/projects.ts";
import { createDatabase, createPool } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { APP_SECRET, useTestServer, type OneServer, type TestProject } from "../../testing/test-server.ts";
import { PIXEL_NUMBER } from "../../rendering/link-target.ts";
import { createActivityQueue } from "./activity.ts";
import { linkStats } from "./link-stats.ts";
import { BURST_MS, SLOW_BURST_MS } from "./machine-rules.ts";
import { createMailTokens } from "./mail-tokens.ts";
import { trackingRoutes } from "./routes.ts";
import { createTrackingEndpoint } from "./tracking-endpoint.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };
const PERSON = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36";
const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
const SHOP = "https://shop.example/sale?a=1&b=ü#top";
const BODY = `<p>Hi {{name}}, <a href="https://shop.example/sale?a=1&amp;b=ü#top">sale</a> <a href='https://shop.example/of/{{name}}'>yours</a>
  <a href="https://shop.example/two">two</a> <a href="mailto:us@shop.example">us</a> <a href="{{unsubscribeUrl}}">out</a></p>`;

interface Mail {
  id: string;
  contactId: string;
  html: string;
  /** Our links in the order of the email, without the host. */
  links: string[];
  pixel: string;
}

const pathOf = (address: string) => address.slice(new URL(address).origin.length);

let made = 0;

/** Sends an email and returns the received message. `age`: how long ago it was sent. */
async function receive(
  body: object = {},
  { project = server.project, age = "1 minute" }: { project?: TestProject; age?: string } = {},
): Promise<Mail> {
  const to = `reader${++made}@example.com`;
  const sent = await server.call(v1.send, project.byKey, {
    body: {
      to,
      from: "news@sandbox.localhost",
      subject: `Hello ${made}`,
      body: BODY,
      data: { name: "Ada" },
      ...body,
    },
  });
  expect(sent.status).toBe(200);
  const [{ email: id, contact } = { email: "", contact: { id: "" } }] = sent.body.data.emails;
  await vi.waitFor(async () => expect(await statusOf(id)).toBe("DELIVERED"), WAIT);
  await server.rows("update emails set sent_at = now() - $1::interval where id = $2", age, id);
  const listed = await server.call(mailbox.listMessages, project.byKey, { query: { to } });
  const { html } = (
    await server.call<{ html: string }>("GET", `/mailbox/messages/${listed.body.data[0]?.id}`, project.byKey)
  ).body;
  const addresses = [...html.matchAll(/"(http[^"]+)"|'(http[^']+)'/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  const own = addresses.filter((address) => address.startsWith(server.url.replace("127.0.0.1", "localhost")));
  return {
    id,
    contactId: contact.id,
    html,
    links: own.map(pathOf).filter((path) => path.startsWith("/c/")),
    pixel: own.map(pathOf).find((path) => path.startsWith("/o/")) ?? "",
  };
}

async function statusOf(id: string): Promise<string | undefined> {
  return (await server.rows<{ status: string }>("select status from emails where id = $1", id))[0]?.status;
}

const get = (path: string, userAgent = PERSON, at: OneServer = server, method = "GET") =>
  at.call(method, path, { headers: { "user-agent": userAgent } });

/** Returns an email's counts as `[pixel or link, total, mails, machine]` and its event names except `email.sent`. */
async function recordsOf(mail: Mail) {
  const counts = await server.rows<{ number: number; total: number; mails: number; machine: number }>(
    `select t.number, t.total, t.mails, t.machine from tracking_counts t join emails e on e.content_id = t.content_id
     where e.id = $1 order by t.number <> 0, t.total desc, t.machine desc`,
    mail.id,
  );
  const [row] = await server.rows<{ opened: boolean; clicked: boolean }>(
    "select opened_at is not null as opened, clicked_at is not null as clicked from emails where id = $1",
    mail.id,
  );
  const events = await server.rows<{ name: string }>(
    "select name from events where email_id = $1 and name not in ('email.sent', 'email.delivery') order by id",
    mail.id,
  );
  return {
    opens: counts
      .filter(({ number }) => number === 0)
      .map(({ total, mails, machine }) => [total, mails, machine])[0],
    clicks: counts
      .filter(({ number }) => number !== 0)
      .map(({ total, mails, machine }) => [total, mails, machine]),
    events: events.map(({ name }) => name),
    opened: row?.opened,
    clicked: row?.clicked,
  };
}

async function setTracking(project: TestProject, tracking: TrackingMode): Promise<void> {
  const reply = await server.call(
    projects.updateProject,
    { cookie: project.owner.cookie },
    { params: { projectId: project.id }, body: { tracking } },
  );
  expect(reply.status).toBe(200);
}

test.concurrent("links and pixel of a mail lead where they should, and what was read and followed is told", async () => {
  const mail = await receive();
  expect(mail.html).toContain('<a href="mailto:us@shop.example">us</a>');
  expect(mail.html).toMatch(/<a href="http[^"]+\/unsubscribe\/[\w-]{64,}">out<\/a>/);
  expect(mail.links).toHaveLength(3);
  const pixel = await get(mail.pixel);
  expect([pixel.status, pixel.headers.get("content-type"), pixel.headers.get("content-length")]).toEqual([
    200,
    "image/gif",
    "43",
  ]);
  const leads = await Promise.all(mail.links.slice(0, 2).map(async (link) => get(link)));
  expect(leads.map(({ status, text }) => [status, text])).toEqual([
    [302, ""],
    [302, ""],
  ]);
  expect(leads.map(({ headers }) => headers.get("location"))).toEqual([
    new URL(SHOP).href,
    "https://shop.example/of/Ada",
  ]);
  for (const { headers } of [pixel, ...leads])
    expect([headers.get("cache-control"), headers.get("referrer-policy")]).toEqual([
      "no-store",
      "no-referrer",
    ]);
});

test.concurrent("the first opening and the first click on each link are events, and all are counted", async () => {
  const mail = await receive();
  const [sale = "", yours = ""] = mail.links;
  await get(mail.pixel);
  await get(mail.pixel);
  await get(sale);
  await vi.waitFor(async () => expect((await recordsOf(mail)).clicked).toBe(true), WAIT);
  await get(sale);
  await get(mail.pixel);
  await vi.waitFor(async () => expect((await recordsOf(mail)).clicks).toEqual([[2, 1, 0]]), WAIT);
  await get(yours);
  await vi.waitFor(async () => {
    expect(await recordsOf(mail)).toEqual({
      opens: [3, 1, 0],
      clicks: [
        [2, 1, 0],
        [1, 1, 0],
      ],
      events: ["email.open", "email.click", "email.click"],
      opened: true,
      clicked: true,
    });
  }, WAIT);
  expect(await statusOf(mail.id)).toBe("CLICKED");
  const { body } = await server.call(eventsContract.listContactEvents, server.project.byKey, {
    params: { contactId: mail.contactId },
  });
  const reported = body.data.filter(({ name }) => /open|click/.test(name)).toReversed();
  const facts = {
    from: "news@sandbox.localhost",
    emailId: mail.id,
    sourceType: "TRANSACTIONAL",
  };
  expect(reported).toMatchObject([
    { name: "email.open", emailId: mail.id, data: { ...facts, isFirst: true, isMachine: false } },
    { name: "email.click", data: { ...facts, link: SHOP, isFirst: true, isMachine: false } },
    {
      name: "email.click",
      data: { ...facts, link: "https://shop.example/of/Ada", isFirst: false, isMachine: false },
    },
  ]);
  const timeline = await server.call(emails.getEmail, server.project.byKey, { params: { id: mail.id } });
  expect(timeline.body.timeline.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["email.open", "email.click"]),
  );
});

test.concurrent("who follows a link has opened the mail, also without its pictures", async () => {
  const mail = await receive();
  await get(mail.links[2] ?? "");
  await vi.waitFor(async () => {
    const records = await recordsOf(mail);
    expect(records).toMatchObject({
      opens: [1, 1, 0],
      clicks: [[1, 1, 0]],
      events: ["email.open", "email.click"],
      opened: true,
    });
  }, WAIT);
});

test.concurrent("opens and clicks by the hundred, in parallel at two processes, are counted exactly and are first once", async () => {
  const mail = await receive();
  const another = await server.startAnother({ ROLES: "api" });
  const [link = ""] = mail.links;
  const hits = Array.from({ length: 100 }, (_, at) =>
    get(at % 2 ? mail.pixel : link, PERSON, at % 4 < 2 ? server : another),
  );
  expect(new Set((await Promise.all(hits)).map(({ status }) => status))).toEqual(new Set([200, 302]));
  await vi.waitFor(async () => {
    const { opens, clicks } = await recordsOf(mail);
    expect([opens?.[0], clicks[0]?.[0]]).toEqual([expect.toSatisfy((total: number) => total >= 50), 50]);
  }, WAIT);
  const { opens, clicks, events } = await recordsOf(mail);
  // A click before any open also counts as the open.
  expect([50, 51]).toContain(opens?.[0]);
  expect([opens?.[1], clicks, events.toSorted()]).toEqual([1, [[50, 1, 0]], ["email.click", "email.open"]]);
});

test.concurrent("what is no link or mail of ours is one and the same page, and the pixel says nothing", async () => {
  const [mail, other] = [await receive(), await receive({ data: { name: "Bob" } })];
  const [fixed = "", signed = ""] = mail.links;
  const token = fixed.slice(3, 59);
  const evil = encodeURIComponent("https://evil.example");
  const forged = [
    "/c/x",
    `/c/${"A".repeat(57)}`,
    `/c/${token}`,
    `/c/${token}zzzzz`,
    `/c/${token}2?u=${evil}`,
    `/c/${token.slice(0, 55)}${token.endsWith("A") ? "B" : "A"}${fixed.slice(59)}`,
    signed.replace(/u=.*/, `u=${evil}`),
    signed.replace(/u=.*/, "u=//evil.example"),
    signed.replace(/u=.*/, "u=https:%5C%5Cevil.example"),
    signed.replace(/u=.*/, "u=javascript:alert(1)"),
    signed.replace(/\?.*/, ""),
    `${signed}&u=${evil}`,
    signed.replace(/\.[\w-]{12}/, ""),
    `/c/${other.links[0]?.slice(3, 59)}${signed.slice(59)}`,
    `${fixed}/..%2F..%2Fevil.example`,
  ];
  const replies = await Promise.all(forged.map(async (path) => get(path)));
  const [first] = replies;
  expect(first?.text).toContain("Link not found");
  expect(replies.slice(0, -1).map(({ status, text }) => [status, text === first?.text])).toEqual(
    forged.slice(1).map(() => [404, true]),
  );
  expect(replies.filter(({ headers }) => headers.has("location"))).toEqual([]);
  // Anything appended to our link changes nothing.
  expect((await get(`${fixed}?u=${evil}&utm=1`)).headers.get("location")).toBe(new URL(SHOP).href);

  const pixels = [mail.pixel, "/o/x.gif", `/o/${"A".repeat(56)}.gif`, `/o/${token}`].map(async (path) =>
    get(path),
  );
  expect(
    new Set(
      (await Promise.all(pixels)).map(
        ({ status, text, headers }) => `${status} ${headers.get("content-type")} ${text}`,
      ),
    ).size,
  ).toBe(1);
});

test.concurrent("a HEAD is answered like a GET, and is not counted", async () => {
  const mail = await receive();
  const heads = await Promise.all(
    [mail.pixel, ...mail.links].map(async (path) => get(path, PERSON, server, "HEAD")),
  );
  expect(heads.map(({ status }) => status)).toEqual([200, 302, 302, 302]);
  expect(heads[1]?.headers.get("location")).toBe(new URL(SHOP).href);
  await get(mail.pixel);
  await vi.waitFor(async () => expect((await recordsOf(mail)).opens).toEqual([1, 1, 0]), WAIT);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  expect(await recordsOf(mail)).toMatchObject({ opens: [1, 1, 0], clicks: [] });
});

const MAX_BURST_TRIES = 5;

/**
 * Returns the email that `visit` visited within the time. Repeats it with another email if it took longer, because a machine that stops
 * between two clicks makes them look like a person's.
 * @param visit returns the email and the milliseconds from its first to its last click
 */
async function visitedWithin(maxMs: number, visit: () => Promise<[Mail, number]>): Promise<Mail> {
  for (let tries = 0; tries < MAX_BURST_TRIES; tries++) {
    const [mail, tookMs] = await visit();
    if (tookMs < maxMs) return mail;
  }
  throw new Error(`No visit ended within ${maxMs} ms.`);
}

test.concurrent("machines are counted apart, move nothing and are told once; a person after them counts", async () => {
  const mail = await visitedWithin(BURST_MS, async () => {
    // Sent later than visited, so that the visits come soon enough on any machine.
    const early = await receive({}, { age: "-1 minute" });
    await get(early.pixel, GMAIL);
    await get(early.pixel, "Mozilla/5.0");
    await get(early.links[0] ?? "");
    await vi.waitFor(async () => {
      expect(await recordsOf(early)).toEqual({
        opens: [0, 0, 2],
        clicks: [[0, 0, 1]],
        events: ["email.machine-open", "email.machine-click"],
        opened: false,
        clicked: false,
      });
    }, WAIT);
    await server.rows("update emails set sent_at = now() - interval '1 minute' where id = $1", early.id);
    // A filter that follows all links at once.
    const startedMs = performance.now();
    await Promise.all(early.links.map(async (link) => get(link)));
    return [early, performance.now() - startedMs];
  });
  const [sale = ""] = mail.links;
  // Then a crawler.
  await get(sale, "Googlebot/2.1");
  await vi.waitFor(async () => {
    const { clicks, events, clicked } = await recordsOf(mail);
    expect([clicks, events.slice(1), clicked]).toEqual([
      [
        [0, 0, 3],
        [0, 0, 1],
        [0, 0, 1],
      ],
      ["email.machine-click", "email.machine-click", "email.machine-click"],
      false,
    ]);
  }, WAIT);
  expect(await statusOf(mail.id)).toBe("DELIVERED");
  await get(mail.pixel, GMAIL);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await get(sale);
  await vi.waitFor(async () => {
    const { opens, clicks, events, clicked } = await recordsOf(mail);
    expect([opens, clicks[0], events.slice(4), clicked]).toEqual([
      [1, 1, 2],
      [1, 1, 3],
      ["email.open", "email.click"],
      true,
    ]);
  }, WAIT);
});

test.concurrent("a filter that goes through the links of a fresh mail one by one is a machine, and so is its first click", async () => {
  const mail = await visitedWithin(SLOW_BURST_MS, async () => {
    const fresh = await receive({}, { age: "10 seconds" });
    const [first = "", second = ""] = fresh.links;
    const startedMs = performance.now();
    await get(first);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await get(second);
    return [fresh, performance.now() - startedMs];
  });
  await vi.waitFor(async () => {
    const { clicks, clicked } = await recordsOf(mail);
    expect([clicks, clicked]).toEqual([
      [
        [0, 0, 1],
        [0, 0, 1],
      ],
      false,
    ]);
  }, WAIT);
  // A person who follows one link of an equally recent email and reads on.
  const other = await receive({}, { age: "10 seconds" });
  await get(other.links[2] ?? "");
  await vi.waitFor(async () => {
    const { clicks, clicked } = await recordsOf(other);
    expect([clicks, clicked]).toEqual([[[1, 1, 0]], true]);
  }, WAIT);
});

test.concurrent("the links of a content are listed with people and machines, also those nobody followed", async () => {
  const mail = await receive();
  await get(mail.links[2] ?? "", "curl/8");
  await vi.waitFor(async () => expect((await recordsOf(mail)).clicks).toEqual([[0, 0, 1]]), WAIT);
  await get(mail.links[1] ?? "");
  const [row] = await server.rows<{ contentId: string }>(
    "select content_id from emails where id = $1",
    mail.id,
  );
  await vi.waitFor(async () => {
    expect(await linkStats(server.database, server.project.id, row?.contentId ?? "")).toEqual([
      { url: "https://shop.example/of/{{name}}", clicks: 1, uniqueClicks: 1, machineClicks: 0 },
      { url: SHOP, clicks: 0, uniqueClicks: 0, machineClicks: 0 },
      { url: "https://shop.example/two", clicks: 0, uniqueClicks: 0, machineClicks: 1 },
    ]);
  }, WAIT);
  expect(await linkStats(server.database, newId(), row?.contentId ?? "")).toEqual([]);
});

test.concurrent("a link works when its contact is gone and when tracking is off; without a contact only the counters know", async () => {
  const project = await server.createProject();
  const [mail, later] = [await receive({}, { project }), await receive()];
  expect(
    (await server.call(contacts.deleteContact, project.byKey, { params: { id: mail.contactId } })).status,
  ).toBe(204);
  await get(mail.pixel);
  expect((await get(mail.links[1] ?? "")).headers.get("location")).toBe("https://shop.example/of/Ada");
  await vi.waitFor(async () => {
    expect(await recordsOf(mail)).toMatchObject({
      opens: [1, 1, 0],
      clicks: [[1, 1, 0]],
      events: [],
      clicked: true,
    });
  }, WAIT);
  await setTracking(project, "DISABLED");
  expect((await get(mail.links[0] ?? "")).headers.get("location")).toBe(new URL(SHOP).href);
  await get(mail.pixel);
  // Later activity elsewhere is recorded after it.
  await get(later.links[0] ?? "");
  await vi.waitFor(async () => expect((await recordsOf(later)).clicked).toBe(true), WAIT);
  expect(await recordsOf(mail)).toMatchObject({ opens: [1, 1, 0], clicks: [[1, 1, 0]] });
});

test.concurrent("a project tracks all mail, mail to lists only, or none; a call may want none", async () => {
  const project = await server.createProject();
  const template = async (type: string) =>
    (
      await server.call<{ id: string }>("POST", "/templates", project.byKey, {
        name: type,
        subject: "Hello",
        body: BODY,
        type,
        from: "news@sandbox.localhost",
      })
    ).body.id;
  const list = {
    template: await template("HEADLESS"),
    subscribed: true,
    subject: undefined,
    body: undefined,
  };
  const isTracked = async (body: object) => {
    const mail = await receive(body, { project });
    expect(mail.links.length > 0).toBe(mail.pixel !== "");
    return mail.pixel !== "";
  };
  const tracked: Record<string, boolean[]> = {};
  for (const mode of ["ENABLED", "MARKETING_ONLY", "DISABLED"] as const) {
    await setTracking(project, mode);
    tracked[mode] = await Promise.all([
      isTracked({}),
      isTracked({ tracking: false }),
      isTracked(list),
      isTracked({ ...list, tracking: true }),
    ]);
  }
  expect(tracked).toEqual({
    ENABLED: [true, false, true, true],
    MARKETING_ONLY: [false, false, true, true],
    DISABLED: [false, false, false, false],
  });
});

test.concurrent("what did not come from a mail that left is not counted", async () => {
  const [mail, later] = [await receive(), await receive()];
  await server.rows(
    "update emails set status = 'QUEUED', due_at = now() + interval '1 day' where id = $1",
    mail.id,
  );
  for (const path of [mail.pixel, mail.links[0] ?? "", later.links[0] ?? ""]) await get(path);
  await vi.waitFor(async () => expect((await recordsOf(later)).clicked).toBe(true), WAIT);
  expect(await recordsOf(mail)).toEqual({
    opens: undefined,
    clicks: [],
    events: [],
    opened: false,
    clicked: false,
  });
});

let mail: Mail;
beforeAll(async () => {
  mail = await receive();
});

/** The endpoint of a process that can't reach its database. */
function endpointWithoutDatabase() {
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: { host: "127.0.0.1", port: 9 }, maxConnections: 2, log });
  const tokens = createMailTokens(APP_SECRET, () => server.url);
  const door = createTrackingEndpoint({ database: createDatabase(pool), tokens, log });
  const [openPixel, followLink] = trackingRoutes(door);
  const ask = (route: typeof openPixel, path: string) => {
    const { pathname, searchParams } = new URL(path, server.url);
    const call = {
      params: { token: pathname.slice(3) },
      query: { u: searchParams.get("u") ?? undefined },
      headers: { "user-agent": PERSON },
      method: "GET",
    };
    return route?.handle(call as never);
  };
  return {
    door,
    pool,
    open: (path: string) => ask(openPixel, path),
    click: (path: string) => ask(followLink, path),
  };
}

test.concurrent("without the database the pixel is there, signed links lead on, others ask for patience", async () => {
  const { door, pool, open, click } = endpointWithoutDatabase();
  expect(await open(mail.pixel)).toMatchObject({ status: 200 });
  expect(await click(mail.links[1] ?? "")).toMatchObject({
    status: 302,
    headers: { location: "https://shop.example/of/Ada" },
  });
  expect(await click(mail.links[0] ?? "")).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  expect(await click("/c/forged")).toMatchObject({ status: 404 });
  await door.book.close();
  await pool.end();
});

test.concurrent("what was opened while the database was away is counted when it is back, or given up at the end", async () => {
  const opened = await receive();
  let isAway = true;
  const database = new Proxy(server.database, {
    get(target, name) {
      if (name === "transaction" && isAway)
        return () => {
          throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const book = createActivityQueue({ database, log: createLog({ level: "silent" }) });
  const note = () =>
    book.note({
      projectId: server.project.id,
      emailId: opened.id,
      kind: "open",
      number: PIXEL_NUMBER,
      link: null,
      userAgent: PERSON,
      purpose: "",
      at: new Date(),
    });
  note();
  note();
  await new Promise((resolve) => setTimeout(resolve, 100));
  isAway = false;
  await vi.waitFor(async () => expect((await recordsOf(opened)).opens).toEqual([2, 1, 0]), WAIT);
  isAway = true;
  note();
  await book.close();
  expect((await recordsOf(opened)).opens).toEqual([2, 1, 0]);
});
