// Tests serving /app from a build folder and without a build.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastify from "fastify";
import { afterEach, expect, test } from "vitest";
import { addDashboard } from "./dashboard-files.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function serve({ isBuilt }: { isBuilt: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  folders.push(folder);
  if (isBuilt) {
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), "<title>the page</title>");
    writeFileSync(join(folder, "assets", "index-abcd1234.js"), "let a = 1;");
    writeFileSync(join(folder, "assets", "private.json"), "no");
    writeFileSync(join(folder, "assets", "inter-latin-abcd1234.woff2"), "the font");
    writeFileSync(join(folder, "third-party-licenses.md"), "# Licenses");
  }
  const app = fastify();
  addDashboard(app, folder);
  return app;
}

test("serves the page at every address below /app, without inline scripts and uncached", async () => {
  const app = serve({ isBuilt: true });
  for (const url of ["/app", "/app/", "/app/sign-in", "/app/0199/contacts/0200?search=a"]) {
    const { statusCode, headers, body } = await app.inject(url);
    expect([url, statusCode, body]).toEqual([url, 200, "<title>the page</title>"]);
    expect(headers["content-security-policy"]).toContain("script-src 'self';");
    expect(headers["cache-control"]).toBe("no-cache");
  }
});

test("serves the font of the build to other pages, and nothing without a build", async () => {
  const { statusCode, headers, body } = await serve({ isBuilt: true }).inject("/assets/inter.woff2");
  expect([statusCode, body]).toEqual([200, "the font"]);
  expect(headers).toMatchObject({ "content-type": "font/woff2", "cache-control": "public, max-age=2592000" });
  const missing = await serve({ isBuilt: false }).inject("/assets/inter.woff2");
  expect([missing.statusCode, missing.headers["cache-control"]]).toEqual([404, "no-store"]);
});

test("caches hashed assets permanently, compresses them if accepted, and hides other files", async () => {
  const app = serve({ isBuilt: true });
  const plain = await app.inject("/app/assets/index-abcd1234.js");
  expect(plain.body).toBe("let a = 1;");
  expect(plain.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  const packed = await app.inject({
    url: "/app/assets/index-abcd1234.js",
    headers: { "accept-encoding": "gzip, br" },
  });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  for (const name of [
    "private.json",
    "gone-abcd1234.js",
    "..%2Findex.html",
    "..%2f..%2fpackage-12345678.js",
  ]) {
    const { statusCode, headers } = await app.inject(`/app/assets/${name}`);
    expect([name, statusCode, headers["cache-control"]]).toEqual([name, 404, "no-store"]);
  }
});

test("explains how to build the dashboard when the build is missing", async () => {
  const { statusCode, body } = await serve({ isBuilt: false }).inject("/app/sign-in");
  expect(statusCode).toBe(503);
  expect(body).toContain("npm run build-dashboard");
});

test("serves the licenses of the bundled code as text", async () => {
  const { body, headers } = await serve({ isBuilt: true }).inject("/app/third-party-licenses.md");
  expect([body, headers["content-type"]]).toEqual(["# Licenses", "text/plain; charset=utf-8"]);
  expect((await serve({ isBuilt: false }).inject("/app/third-party-licenses.md")).statusCode).toBe(404);
});
