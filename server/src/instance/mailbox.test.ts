// Tests the local mailbox over HTTP and its page: foreign content is served as a download or text and never runs.
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { expect, test, vi } from "vitest";
import * as mailbox from "@postloft/contract/mailbox.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import * as contract from "@postloft/contract/mailbox.ts";
import { OUTBOX_WAIT } from "../testing/outbox-fixture.ts";
import {
  responsesByName,
  errorOf,
  sameByName,
  useTestServer,
  type TestCaller,
} from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer();
const SCRIPTS = ["mailbox.js", "mailbox-calls.js", "mailbox-message.js"];

interface Item {
  id: string;
  subject: string;
  to: string;
}
type List = ResponseOf<typeof mailbox.listMessages>;
interface Message extends Item {
  attachments: Array<{ filename: string; contentId: string | null }>;
}

async function send(caller: TestCaller, mail: object): Promise<void> {
  const from = "hello@sandbox.localhost";
  const { status } = await server.call("POST", "/v1/send", caller, { from, body: "<p>x</p>", ...mail });
  expect(status).toBe(200);
}

async function listWhenThere(caller: TestCaller, total: number): Promise<Item[]> {
  return vi.waitFor(async () => {
    const { body } = await server.call(mailbox.listMessages, caller);
    // Counted after listing, because an email may arrive in between.
    expect([body.total, body.data.length]).toEqual([total, total]);
    return body.data;
  }, OUTBOX_WAIT);
}

test("searches subjects and addresses case-insensitively and treats wildcards literally", async () => {
  const { byKey } = await server.createProject();
  await send(byKey, { to: "ada@example.com", subject: "Order 50% off" });
  await send(byKey, { to: "grace_h@example.com", subject: "Order 500 off" });
  await listWhenThere(byKey, 2);
  const found = async (search: string) => {
    const path = `/mailbox/messages?search=${encodeURIComponent(search)}`;
    const { body } = await server.call<List>("GET", path, byKey);
    expect(contract.listMessages.responses[200]?.parse(body)).toEqual(body);
    expect(body.total).toBe(body.data.length);
    return body.data.map(({ to }) => to).toSorted();
  };
  expect(await found("oRDER")).toEqual(["ada@example.com", "grace_h@example.com"]);
  expect(await found("50%")).toEqual(["ada@example.com"]);
  expect(await found("e_h@")).toEqual(["grace_h@example.com"]);
  expect(await found("sandbox.localhost")).toHaveLength(2);
  expect(await found("nothing of it")).toEqual([]);
  const first = await server.call(mailbox.listMessages, byKey, { query: { search: "order", limit: 1 } });
  const path = `/mailbox/messages?search=order&limit=1&cursor=${first.body.cursor}`;
  expect((await server.call<List>("GET", path, byKey)).body.data).toMatchObject([{ to: "ada@example.com" }]);
});

test("serves an attachment as bytes to save, regardless of its type", async () => {
  const { byKey } = await server.createProject();
  const other = await server.createProject();
  const page = "<script>alert(1)</script>";
  await send(byKey, {
    to: "ada@example.com",
    subject: "files",
    body: '<img src="cid:logo">',
    attachments: [
      { filename: "a'(ü).html", content: btoa(page), contentType: "text/html" },
      {
        filename: "l.png",
        content: btoa("png"),
        contentType: "image/png",
        disposition: "inline",
        contentId: "logo",
      },
    ],
  });
  const [item] = await listWhenThere(byKey, 1);
  const path = `/mailbox/messages/${item?.id}`;
  const { body: message } = await server.call<Message>("GET", path, byKey);
  expect(contract.getMessage.responses[200]?.parse(message)).toEqual(message);
  const position = message.attachments.findIndex(({ filename }) => filename.endsWith(".html"));
  expect(message.attachments.map(({ contentId }) => contentId).toSorted()).toEqual(["logo", null]);
  const file = await server.call("GET", `${path}/attachments/${position}`, byKey);
  expect([file.status, file.text]).toEqual([200, page]);
  expect(file.headers.get("content-type")).toBe("application/octet-stream");
  expect(file.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a%27%28%C3%BC%29.html");
  expect(file.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
  const nowhere = ["2", "-1", "x", "1e0"];
  const ask = async (at: string) => errorOf(await server.call("GET", `${path}/attachments/${at}`, byKey));
  expect(await responsesByName(nowhere, String, ask)).toEqual(
    sameByName(nowhere, String, () => "404 RESOURCE_NOT_FOUND"),
  );
  expect(errorOf(await server.call("GET", `${path}/attachments/0`, other.byKey))).toBe(
    "404 MESSAGE_NOT_FOUND",
  );
});

test("the page runs only our script files and sends nothing elsewhere", async () => {
  const { status, headers, text } = await server.call("GET", "/mailbox");
  expect(status).toBe(200);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|<style/i);
  const named = [...text.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name = ""]) => name);
  expect(named).toContain("mailbox.js");
  const folder = join(import.meta.dirname, "assets");
  const scripts = await Promise.all(SCRIPTS.map((name) => readFile(join(folder, name), "utf8")));
  const imported = [...scripts.join("\n").matchAll(/from "\.\/([^"]+)"/g)].map(([, name = ""]) => name);
  expect(new Set(["mailbox.js", ...imported])).toEqual(new Set(SCRIPTS));
  const types = await responsesByName([...named, ...imported], String, async (name) => {
    const asset = await server.call("GET", `/assets/${name}`);
    return `${asset.status} ${asset.headers.get("content-type")}`;
  });
  const expected: Record<string, string> = {
    ".js": "200 text/javascript; charset=utf-8",
    ".css": "200 text/css; charset=utf-8",
    ".svg": "200 image/svg+xml",
  };
  expect(types).toEqual(
    sameByName([...named, ...imported], String, (name) => expected[extname(name)] ?? "unknown"),
  );
});

test("the page calls only existing endpoints with their methods", async () => {
  const calls = await readFile(join(import.meta.dirname, "assets", "mailbox-calls.js"), "utf8");
  const asked = [...calls.matchAll(/["`](\/[a-z@/]+)[^"`]*["`](?:[^;]*?method: "([A-Z]+)")?/g)].map(
    ([, path = "", method = "GET"]) => `${method} ${path.replace(/\/$/, "")}`,
  );
  expect(new Set(asked)).toContain("GET /auth/logout");
  const known = ENDPOINTS.flatMap(({ method, path }) => [
    `${method} ${path}`,
    `${method} ${path.split("/:")[0]}`,
  ]);
  expect(
    [...new Set(asked)].filter((call) => !known.includes(call) && !call.endsWith("/attachments")),
  ).toEqual([]);
});

test("shows email content only as text or in a restricted frame", async () => {
  const folder = join(import.meta.dirname, "assets");
  const scripts = await Promise.all(SCRIPTS.map((name) => readFile(join(folder, name), "utf8")));
  const code = scripts.join("\n");
  expect(code).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function/);
  expect(code.match(/srcdoc/g)).toHaveLength(1);
  const sandbox = /sandbox: "([^"]*)"/.exec(code)?.[1]?.split(" ");
  expect(sandbox).toEqual(["allow-popups", "allow-popups-to-escape-sandbox"]);
  expect(code).toContain(
    "default-src 'none'; style-src 'unsafe-inline'; img-src ${pictures}; form-action 'none'",
  );
});
