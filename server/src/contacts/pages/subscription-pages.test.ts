// Public pages over HTTP: GET changes nothing, one click is enough, and each link has one purpose.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { Pool } from "pg";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as events from "@postloft/contract/events.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createDatabase, transaction, type Tx } from "../../platform/database/database.ts";
import type { HttpResponse, Call } from "../../platform/http/route.ts";
import { createRateLimiter } from "../../platform/http/rate-limit.ts";
import {
  responsesByName,
  APP_SECRET,
  inOneWindow,
  sameByName,
  useTestServer,
  type TestProject,
} from "../../testing/test-server.ts";
import { ownImagePath } from "../../uploads/rules.ts";
import { createContactLinks, createLinkReader, type ContactLinks } from "../links.ts";
import { LANGUAGES } from "./locale.ts";
import { pageRoutes } from "./routes.ts";
import { createSubscriptionPages } from "./subscription-pages.ts";

const server = useTestServer({ ROLES: "api" });
const linksOf = createContactLinks(APP_SECRET, () => "");

interface Person {
  project: TestProject;
  id: string;
  email: string;
  links: ContactLinks;
  /** Links without an address, as in emails from before links named an address. */
  oldLinks: ContactLinks;
}

let made = 0;
async function newPerson(parts: { subscribed?: boolean; data?: object } = {}, project = server.project) {
  const email = `person${++made}@example.com`;
  const { body } = await server.call<{ id: string }>("POST", "/contacts", project.byKey, { email, ...parts });
  const links = linksOf(project.id, body.id, { address: email, emailId: null });
  return { project, id: body.id, email, links, oldLinks: linksOf(project.id, body.id) };
}

const isSubscribed = async ({ project, id }: Person) =>
  (await server.call(contacts.getContact, project.byKey, { params: { id } })).body.subscribed;
const eventsOf = async ({ project, id }: Person) =>
  (await server.call(events.listContactEvents, project.byKey, { params: { contactId: id } })).body.data.map(
    ({ name }) => name,
  );
/** Returns the consent log without ids and times, oldest first, after the initial entry. */
const logOf = async ({ project, id }: Person) =>
  (await server.call(contacts.listContactConsent, project.byKey, { params: { id } })).body.data
    .map((change) => ({ ...change, id: undefined, at: undefined }))
    .toReversed()
    .slice(1);

const URLENCODED = "application/x-www-form-urlencoded";
/** Posts as RFC 8058 requires: no cookie, no origin, no user agent, only the form. */
const post = (path: string, form: string, contentType = URLENCODED) =>
  server.call("POST", path, { headers: { "content-type": contentType } }, form);
const ONE_CLICK = "List-Unsubscribe=One-Click";
const MULTIPART_ONE_CLICK =
  '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
const MULTIPART = "multipart/form-data; boundary=b";

const linkNames = ["unsubscribeUrl", "subscribeUrl", "manageUrl"] as const;
const itself = (name: string) => name;
const headingOf = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1];
const formOf = (html: string) => ({
  target: /<form method="post" action="([^"]*)">/.exec(html)?.[1] ?? "",
  action: /<input type="hidden" name="action" value="([^"]*)">/.exec(html)?.[1],
  label: /<button[^>]*>(.*?)<\/button>/.exec(html)?.[1],
});
/** Submits the only form of a page. */
const press = async (html: string) => {
  const { target, action } = formOf(html);
  return post(target, `action=${action}`);
};

const VISITORS = [
  {},
  { "sec-purpose": "prefetch" },
  { purpose: "prefetch", "x-moz": "prefetch" },
  { "user-agent": "Mozilla/5.0 (compatible; SafeLinks scanner)" },
];

test.for([true, false])("opening the pages changes nothing when subscribed is %s", async (subscribed) => {
  const person = await newPerson({ subscribed });
  const before = await server.countRows();
  const [row] = await server.rows("select c::text from contacts c where id = $1", person.id);
  const statuses = await responsesByName(linkNames, itself, async (name) =>
    Promise.all(
      VISITORS.flatMap((headers) =>
        ["GET", "HEAD"].map(async (method) => {
          const reply = await server.call(method, person.links[name], { headers });
          expect(reply.text === "").toBe(method === "HEAD");
          return reply.status;
        }),
      ),
    ),
  );
  expect(statuses).toEqual(sameByName(linkNames, itself, () => Array(VISITORS.length * 2).fill(200)));
  expect((await server.call("OPTIONS", person.links.unsubscribeUrl)).status).toBe(405);
  expect(await server.countRows()).toEqual(before);
  expect(await server.rows("select c::text from contacts c where id = $1", person.id)).toEqual([row]);
});

test.for([
  ["urlencoded", URLENCODED, ONE_CLICK],
  ["urlencoded with a charset", `${URLENCODED};charset=utf-8`, ONE_CLICK],
  ["urlencoded with a trailing line break", URLENCODED, `${ONE_CLICK}\r\n`],
  ["multipart", MULTIPART, MULTIPART_ONE_CLICK],
] as const)("one click (%s) unsubscribes immediately and once", async ([, contentType, body]) => {
  const person = await newPerson();
  for (let click = 0; click < 3; click++) {
    const reply = await post(person.links.unsubscribeUrl, body, contentType);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("location")).toBeNull();
    expect(reply.headers.getSetCookie()).toEqual([]);
    expect(await isSubscribed(person)).toBe(false);
  }
  expect(await eventsOf(person)).toEqual(["contact.unsubscribed"]);
  expect(await logOf(person)).toEqual([
    { subscribed: false, source: "one-click", actor: null, ip: "127.0.0.1", email: null },
  ]);
});

test.for([
  ["trusted", "127.0.0.0/8, 203.0.113.9", "198.51.100.7"],
  ["not trusted", "", "127.0.0.1"],
  ["not trusted past the first foreign proxy", "loopback", "203.0.113.9"],
] as const)("the client IP from a reverse proxy is %s", async ([, trusted, ip]) => {
  const person = await newPerson();
  const another = await server.startAnother({ ROLES: "api", TRUST_PROXY: trusted });
  const headers = { "content-type": URLENCODED, "x-forwarded-for": "192.0.2.1, 198.51.100.7, 203.0.113.9" };
  const reply = await another.call("POST", person.links.unsubscribeUrl, { headers }, ONE_CLICK);
  expect(reply.status).toBe(200);
  expect(await logOf(person)).toMatchObject([{ subscribed: false, ip }]);
});

test("a click unsubscribes even if the client disconnects immediately", async () => {
  const person = await newPerson();
  const { hostname, port } = new URL(server.url);
  for (let click = 0; click < 5; click++) {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(
      `POST ${person.links.unsubscribeUrl} HTTP/1.1\r\nHost: a\r\nContent-Type: ${URLENCODED}\r\nContent-Length: ${ONE_CLICK.length}\r\n\r\n${ONE_CLICK}`,
    );
    socket.resetAndDestroy();
  }
  await vi.waitFor(async () => expect(await isSubscribed(person)).toBe(false), { timeout: 30_000 });
  expect(await logOf(person)).toHaveLength(1);
});

test("twenty concurrent clicks unsubscribe once and get the same response", async () => {
  const person = await newPerson();
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => post(person.links.unsubscribeUrl, ONE_CLICK)),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await eventsOf(person)).toEqual(["contact.unsubscribed"]);
  expect(await logOf(person)).toHaveLength(1);
});

test("the page asks, unsubscribes, confirms, and offers an undo that works", async () => {
  const person = await newPerson();
  const asked = await server.call("GET", person.links.unsubscribeUrl);
  expect(headingOf(asked.text)).toBe("Do you want to unsubscribe?");
  expect(asked.text).not.toContain('role="status"');
  expect(formOf(asked.text)).toEqual({
    target: person.links.unsubscribeUrl,
    action: "unsubscribe",
    label: "Unsubscribe",
  });
  const done = await press(asked.text);
  expect(done.status).toBe(200);
  expect(done.text).toContain('<div role="status"><h1>You are unsubscribed</h1>');
  expect(await isSubscribed(person)).toBe(false);
  expect(formOf(done.text)).toEqual({
    target: person.links.subscribeUrl,
    action: "subscribe",
    label: "Undo",
  });
  const undone = await press(done.text);
  expect(undone.status).toBe(200);
  expect(headingOf(undone.text)).toBe("You are subscribed");
  expect(formOf(undone.text).label).toBe("Unsubscribe");
  expect(await isSubscribed(person)).toBe(true);
  expect(await eventsOf(person)).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  expect(await logOf(person)).toEqual([
    { subscribed: false, source: "page", actor: null, ip: "127.0.0.1", email: null },
    { subscribed: true, source: "page", actor: null, ip: "127.0.0.1", email: null },
  ]);
});

test("the subscribe page asks unsubscribed contacts and confirms for subscribed ones", async () => {
  const person = await newPerson({ subscribed: false });
  const asked = await server.call("GET", person.links.subscribeUrl);
  expect(headingOf(asked.text)).toBe("Do you want to subscribe?");
  const done = await press(asked.text);
  expect(headingOf(done.text)).toBe("You are subscribed");
  expect(await isSubscribed(person)).toBe(true);
  const later = await server.call("GET", person.links.subscribeUrl);
  expect(headingOf(later.text)).toBe("You are subscribed");
  expect(later.text).not.toContain('role="status"');
  expect(await eventsOf(person)).toEqual(["contact.subscribed"]);
});

test("the manage page shows the state, and its link alone changes it both ways", async () => {
  const person = await newPerson();
  const { manageUrl } = person.links;
  const first = await server.call("GET", manageUrl);
  expect(headingOf(first.text)).toBe("Your subscription");
  expect(first.text).toContain("receives newsletters");
  expect(formOf(first.text)).toEqual({ target: manageUrl, action: "unsubscribe", label: "Unsubscribe" });
  const out = await press(first.text);
  expect(headingOf(out.text)).toBe("You are unsubscribed");
  expect(await isSubscribed(person)).toBe(false);
  expect((await server.call("GET", manageUrl)).text).toContain("no longer receives newsletters");
  expect(formOf(out.text)).toEqual({ target: manageUrl, action: "subscribe", label: "Undo" });
  await press(out.text);
  expect(await isSubscribed(person)).toBe(true);
  const change = `email=other%40example.com&action=unsubscribe&subscribed=true&data=x`;
  expect((await post(manageUrl, change)).status).toBe(200);
  const [row] = await server.rows("select email, subscribed, data from contacts where id = $1", person.id);
  expect(row).toEqual({ email: person.email, subscribed: false, data: {} });
});

const NO_WISHES: Array<[keyof ContactLinks, string, string]> = [
  ["unsubscribeUrl", "", URLENCODED],
  ["unsubscribeUrl", "List-Unsubscribe=Two-Clicks", URLENCODED],
  ["unsubscribeUrl", "action=subscribe", URLENCODED],
  ["unsubscribeUrl", "__proto__[action]=unsubscribe&constructor=x", URLENCODED],
  ["unsubscribeUrl", "%00=%00&action=unsubscribe%00", URLENCODED],
  ["unsubscribeUrl", "garbage", MULTIPART],
  ["unsubscribeUrl", MULTIPART_ONE_CLICK, "multipart/form-data"],
  ["subscribeUrl", ONE_CLICK, URLENCODED],
  ["subscribeUrl", "action=unsubscribe", URLENCODED],
  ["manageUrl", ONE_CLICK, URLENCODED],
];

test.for(NO_WISHES)("a form to the %s with %j changes nothing", async ([name, body, contentType]) => {
  const person = await newPerson({ subscribed: true });
  const reply = await post(person.links[name], body, contentType);
  expect(reply.status).toBe(422);
  expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(reply.text).not.toContain('role="status"');
  expect(await isSubscribed(person)).toBe(true);
  expect(await logOf(person)).toEqual([]);
});

test("accepts only form bodies, and only short ones", async () => {
  const { links } = await newPerson();
  for (const type of ["application/json", "text/plain", "application/xml"])
    expect((await post(links.unsubscribeUrl, ONE_CLICK, type)).status).toBe(415);
  const long = `${ONE_CLICK}&x=${"x".repeat(LIMITS.formBytes.value)}`;
  expect((await post(links.unsubscribeUrl, long)).status).toBe(413);
  const form = await server.call(
    "POST",
    "/contacts",
    { ...server.project.byKey, headers: { "content-type": URLENCODED } },
    "email=a%40example.com",
  );
  expect(form.status).toBe(415);
});

/** Returns the token with one character changed. */
function changed(path: string, place: number): string {
  const at = path.lastIndexOf("/") + 1 + place;
  return path.slice(0, at) + (path[at] === "A" ? "B" : "A") + path.slice(at + 1);
}

function forgeries({ links, project, id, email }: Person): string[] {
  const { unsubscribeUrl } = links;
  const token = unsubscribeUrl.slice("/unsubscribe/".length);
  const to = { address: email, emailId: null };
  const stranger = createContactLinks("another secret, long enough as well", () => "")(project.id, id, to);
  return [
    ...[0, 21, 43, 63].map((place) => changed(unsubscribeUrl, place)),
    links.subscribeUrl.replace("/subscribe/", "/unsubscribe/"),
    links.manageUrl.replace("/manage/", "/unsubscribe/"),
    stranger.unsubscribeUrl,
    `/unsubscribe/${id}`,
    `/unsubscribe/${project.id}${id}`,
    `/unsubscribe/${encodeURIComponent(email)}`,
    `/unsubscribe/${token}x`,
    `/unsubscribe/${token}=`,
    `/unsubscribe/${token}${token}`,
    `/unsubscribe/${token.slice(0, -1)}`,
    `/unsubscribe/${token}%20now`,
    `/unsubscribe/${Buffer.from(token, "base64url").toString("base64").replaceAll("/", "%2F")}%3D`,
    "/unsubscribe/x",
    "/unsubscribe/%00",
    `/unsubscribe/${"A".repeat(64)}`,
    `/unsubscribe/${"x".repeat(1_000)}`,
  ];
}

test("a forged link, or one for another page, returns a 404 page and changes nothing", async () => {
  const someone = await newPerson();
  const before = await server.countRows();
  const paths = [...forgeries(someone), ...forgeries({ ...someone, links: someone.oldLinks })];
  const responses = await responsesByName(paths, itself, async (path) => {
    const replies = await Promise.all([server.call("GET", path), post(path, ONE_CLICK)]);
    return replies.map(({ status, headers, text }) => [status, headers.get("content-type"), headingOf(text)]);
  });
  const refused = [404, "text/html; charset=utf-8", "This link is not valid"];
  expect(responses).toEqual(sameByName(paths, itself, () => [refused, refused]));
  expect((await server.call("GET", someone.links.unsubscribeUrl)).status).toBe(200);
  expect(await server.countRows()).toEqual(before);
  expect(await isSubscribed(someone)).toBe(true);
});

test("an endless token is rejected like any path", async () => {
  for (const length of [1_001, 8_000]) {
    const path = `/unsubscribe/${"x".repeat(length)}`;
    expect([(await server.call("GET", path)).status, (await post(path, ONE_CLICK)).status]).toEqual([
      404, 404,
    ]);
  }
});

test("a link is valid in one project only and contains no readable address", async () => {
  const other = await server.createProject();
  const someone = await newPerson();
  const crossed = linksOf(other.id, someone.id);
  const reply = await post(crossed.unsubscribeUrl, ONE_CLICK);
  expect([reply.status, headingOf(reply.text)]).toEqual([200, "Nothing is stored about you"]);
  expect(await isSubscribed(someone)).toBe(true);
  for (const name of linkNames) {
    expect(someone.oldLinks[name].split("/").at(-1)).toHaveLength(64);
    const token = someone.links[name].split("/").at(-1) ?? "";
    expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("person");
  }
});

test("old links of deleted contacts and projects report no data, and one-click returns 200", async () => {
  const project = await server.createProject();
  const someone = await newPerson({}, project);
  expect(
    (await server.call(contacts.deleteContact, project.byKey, { params: { id: someone.id } })).status,
  ).toBe(204);
  for (const name of linkNames) {
    const reply = await server.call("GET", someone.oldLinks[name]);
    expect([reply.status, headingOf(reply.text)]).toEqual([200, "Nothing is stored about you"]);
    expect(formOf(reply.text).label).toBeUndefined();
  }
  expect((await post(someone.oldLinks.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
  expect((await post(someone.oldLinks.subscribeUrl, "action=subscribe")).status).toBe(200);
  await server.rows("delete from projects where id = $1", project.id);
  const headers = { "accept-language": "nl" };
  for (const { manageUrl } of [someone.links, someone.oldLinks]) {
    const reply = await server.call("GET", manageUrl, { headers });
    expect([reply.status, headingOf(reply.text)]).toEqual([200, LANGUAGES.nl.goneTitle]);
  }
  expect((await post(someone.links.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
  expect((await post(linksOf(project.id, randomUUID()).unsubscribeUrl, ONE_CLICK)).status).toBe(200);
});

test("an old link acts on its contact, even after an address change", async () => {
  const someone = await newPerson();
  const email = `moved${made}@example.com`;
  await server.call(contacts.updateContact, someone.project.byKey, {
    params: { id: someone.id },
    body: { email },
  });
  expect((await post(someone.oldLinks.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
  expect(await isSubscribed(someone)).toBe(false);
  expect((await post(someone.oldLinks.manageUrl, "action=subscribe")).status).toBe(200);
  expect(await isSubscribed(someone)).toBe(true);
});

test("contacts can unsubscribe from a disabled project", async () => {
  const project = await server.createProject();
  const someone = await newPerson({}, project);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect((await post(someone.links.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
  expect(await isSubscribed(someone)).toBe(false);
});

const imagePath = (projectId: string) => `/images/${projectId.replaceAll("-", "")}${"a".repeat(32)}.png`;

test("the page shows a logo only if it is an image of the project stored on this server", async () => {
  const project = await server.createProject();
  const someone = await newPerson({}, project);
  const pictureOf = async (logoUrl: string | null) => {
    await server.rows("update projects set logo_url = $2 where id = $1", project.id, logoUrl);
    const { text } = await server.call("GET", someone.links.unsubscribeUrl);
    return /<img[^>]*>/.exec(text)?.[0] ?? null;
  };
  expect(await pictureOf(`https://mail.example.com${imagePath(project.id)}`)).toBe(
    `<img class="logo" src="${imagePath(project.id)}" alt="">`,
  );
  for (const url of [
    `https://mail.example.com${imagePath(server.project.id)}`,
    "https://shop.example/images/logo.png",
    null,
  ])
    expect(await pictureOf(url)).toBe(null);
});

test("pages load only our own logo, icon and font, run no script, and allow no framing, indexing or caching", async () => {
  const someone = await newPerson();
  const pages = [
    await server.call("GET", someone.links.unsubscribeUrl),
    await post(someone.links.unsubscribeUrl, ONE_CLICK),
    await server.call("GET", "/manage/forged"),
  ];
  for (const { headers, text } of pages) {
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='(?: 'sha256-[A-Za-z0-9+/]{43}=')?; img-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex, nofollow",
      "x-frame-options": "DENY",
    });
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(text).toContain('<meta name="robots" content="noindex, nofollow">');
    const others = text
      .replace('<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">', "")
      .replace('url("/assets/inter.woff2")', "");
    expect(others).not.toMatch(
      /<script|<link|<img|<iframe|@import|url\(|\bon\w+=|\bsrc=|\bstyle="|href="https?:/i,
    );
    expect(text).not.toContain(someone.email);
    expect(text.match(/<h1/g)).toHaveLength(1);
  }
  expect(pages[0]?.text).toContain(`<bdi>p•••@example.com</bdi>`);
});

test("pages have the colors of the brand, which their policy allows", async () => {
  const project = await server.createProject();
  const someone = await newPerson({}, project);
  const brand = { accent: "#ffd400", ink: "#222222", surface: "#fffff0", font: "verdana" };
  const caller = { cookie: project.owner.cookie };
  await server.call("PATCH", `/users/@me/projects/${project.id}`, caller, { brand });
  const pages = [
    await server.call("GET", someone.links.unsubscribeUrl),
    await post(someone.links.unsubscribeUrl, ONE_CLICK),
  ];
  for (const { text, headers } of pages) {
    const styles = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = ""]) => style);
    expect(styles).toHaveLength(2);
    for (const style of styles)
      expect(headers.get("content-security-policy")).toContain(
        createHash("sha256").update(style).digest("base64"),
      );
    // The button keeps the yellow, with a black label. Links are darker, so that they are readable.
    expect(styles[1]).toContain("--ink:#222222");
    expect(styles[1]).toContain("--strong:#ffd400;--on-strong:#000000");
    expect(styles[1]).not.toContain("--link:#ffd400;--");
    expect(styles[1]).toContain("--font:Verdana");
  }
});

test("the style matches the hash in the policy", async () => {
  const { text, headers } = await server.call("GET", "/manage/forged");
  const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "";
  const hash = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))).toString(
    "base64",
  );
  expect(headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
});

test("names of projects and contact data are escaped on the page", async () => {
  const project = await server.createProject();
  await server.rows(
    "update projects set name = $2 where id = $1",
    project.id,
    `<script>alert("x")</script>&{email}'`,
  );
  const someone = await newPerson({ data: { locale: '"><script>' } }, project);
  const { text } = await server.call("GET", someone.links.unsubscribeUrl);
  expect(text).not.toContain("<script");
  expect(text).toContain(
    "from <bdi>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;{email}&#39;</bdi>.",
  );
});

test("the language is the contact's or the project's, and the browser's for unknown links", async () => {
  const project = await server.createProject();
  const titleFor = async (locale: unknown, language: string) => {
    await server.rows("update projects set language = $2 where id = $1", project.id, language);
    const someone = await newPerson(locale === undefined ? {} : { data: { locale } }, project);
    const headers = { "accept-language": "it" };
    const { text } = await server.call("GET", someone.links.unsubscribeUrl, { headers });
    return headingOf(text);
  };
  const { de, pt, fr, en, it } = LANGUAGES;
  expect(await titleFor("de-AT", "fr")).toBe(de.unsubscribeTitle);
  expect(await titleFor("pt_BR", "fr")).toBe(pt.unsubscribeTitle);
  expect(await titleFor("xx", "fr")).toBe(fr.unsubscribeTitle);
  expect(await titleFor({ de: 1 }, "fr")).toBe(fr.unsubscribeTitle);
  expect(await titleFor(undefined, "pt-BR")).toBe(pt.unsubscribeTitle);
  expect(await titleFor(undefined, "en")).toBe(en.unsubscribeTitle);
  const stranger = await server.call("GET", "/unsubscribe/x", {
    headers: { "accept-language": "xx,it;q=0.8" },
  });
  expect(headingOf(stranger.text)).toBe(it.invalidTitle);
});

test.for(Object.entries(LANGUAGES))("the pages are available in %s", async ([code, texts]) => {
  const someone = await newPerson({ data: { locale: code } });
  const { text } = await server.call("GET", someone.links.unsubscribeUrl);
  expect(text).toContain(`<html lang="${code}" dir="${code === "ar" || code === "he" ? "rtl" : "ltr"}">`);
  expect(headingOf(text)).toBe(texts.unsubscribeTitle);
  expect(formOf(text).label).toBe(texts.unsubscribeButton.replaceAll("'", "&#39;"));
  expect(text).not.toMatch(/\{(email|project)\}/);
});

test("pages work under /api and with a trailing slash, and their forms keep the right target", async () => {
  const someone = await newPerson();
  for (const path of [`/api${someone.links.unsubscribeUrl}`, `${someone.links.unsubscribeUrl}/`]) {
    const { status, text } = await server.call("GET", path);
    expect([status, formOf(text).target]).toEqual([200, someone.links.unsubscribeUrl]);
  }
});

test("limits repeated subscribing with 429 and still lets the contact unsubscribe", async () => {
  await inOneWindow(server, 3_600, async () => {
    const person = await newPerson();
    const { manageUrl, subscribeUrl, unsubscribeUrl } = person.links;
    const most = LIMITS.subscriptionChanges.value;
    for (let at = 0; at < most; at++) {
      expect((await post(at % 2 ? manageUrl : subscribeUrl, "action=subscribe")).status).toBe(200);
      expect((await post(at % 2 ? unsubscribeUrl : manageUrl, "action=unsubscribe")).status).toBe(200);
    }
    const refused = await post(manageUrl, "action=subscribe");
    expect([refused.status, headingOf(refused.text)]).toEqual([429, LANGUAGES.en.problemTitle]);
    expect(refused.text).toContain(LANGUAGES.en.oftenText);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post(subscribeUrl, "action=subscribe")).status).toBe(429);
    expect(await isSubscribed(person)).toBe(false);
    await server.call(contacts.updateContact, person.project.byKey, {
      params: { id: person.id },
      body: { subscribed: true },
    });
    expect((await post(unsubscribeUrl, ONE_CLICK)).status).toBe(200);
    expect(await isSubscribed(person)).toBe(false);
    const another = await newPerson({ subscribed: false });
    expect((await post(another.links.manageUrl, "action=subscribe")).status).toBe(200);
  });
});

test("limits subscriptions from one network and still lets its contacts unsubscribe", async () => {
  await inOneWindow(server, 3_600, async () => {
    const [one, another] = [await newPerson({ subscribed: false }), await newPerson()];
    expect((await post(one.links.subscribeUrl, "action=subscribe")).status).toBe(200);
    await server.rows(
      "update rate_windows set taken = $1 where bucket = 'subscribing:127.0.0.1'",
      LIMITS.networkSubscriptions.value,
    );
    expect((await post(another.links.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
    expect((await post(one.links.manageUrl, "action=unsubscribe")).status).toBe(200);
    const refused = await post(another.links.manageUrl, "action=subscribe");
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(refused.text).toContain(LANGUAGES.en.oftenText);
    expect([await isSubscribed(one), await isSubscribed(another)]).toEqual([false, false]);
    await server.rows("delete from rate_windows where bucket = 'subscribing:127.0.0.1'");
  });
});

test("returns a 503 page with a message while the database is unavailable", async () => {
  const noOne = new Pool({ host: "127.0.0.1", port: 9 });
  const database = createDatabase(noOne);
  const readLink = createLinkReader(APP_SECRET);
  const routes = pageRoutes({
    pages: createSubscriptionPages({
      database,
      readLink,
      linksOf,
      ownImagePath,
      rateLimiter: createRateLimiter(database),
    }),
  });
  const { unsubscribeUrl, subscribeUrl } = linksOf(randomUUID(), randomUUID());
  const callOf = (url: string, action: string) =>
    ({
      params: { token: url.split("/").at(-1) },
      headers: { "accept-language": "de" },
      body: { action },
      ip: "127.0.0.1",
      commit: (work: (tx: Tx) => Promise<HttpResponse>) => transaction(database, work),
    }) as unknown as Call;
  const [showUnsubscribe, unsubscribe, showSubscribe, subscribe] = routes;
  const responses = await Promise.all([
    ...[showUnsubscribe, unsubscribe].map((route) => route?.handle(callOf(unsubscribeUrl, "unsubscribe"))),
    ...[showSubscribe, subscribe].map((route) => route?.handle(callOf(subscribeUrl, "subscribe"))),
  ]);
  await noOne.end();
  for (const response of responses)
    expect([response?.status, headingOf(String(response?.body))]).toEqual([503, LANGUAGES.de.problemTitle]);
});

test("the API returns the links of the contact's emails, and 404 for other projects", async () => {
  const person = await newPerson();
  const path = `/contacts/${person.id}/links`;
  const { body } = await server.call<ContactLinks>("GET", path, person.project.byKey);
  const paths = Object.fromEntries(Object.entries(body).map(([name, url]) => [name, new URL(url).pathname]));
  expect(paths).toEqual(person.links);
  expect((await post(paths["unsubscribeUrl"] ?? "", ONE_CLICK)).status).toBe(200);
  expect(await isSubscribed(person)).toBe(false);
  const elsewhere = await server.createProject();
  expect((await server.call("GET", path, elsewhere.byKey)).status).toBe(404);
});
