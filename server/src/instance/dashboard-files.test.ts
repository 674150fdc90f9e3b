// How /app is served: from a folder as the build leaves it, and from none.
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
    writeFileSync(join(folder, "third-party-licenses.md"), "# Licenses");
  }
  const app = fastify();
  addDashboard(app, folder);
  return app;
}

test("every address below /app gets the page, under a policy without inline scripts, and asks again each time", async () => {
  const app = serve({ isBuilt: true });
  for (const url of ["/app", "/app/", "/app/sign-in", "/app/0199/contacts/0200?search=a"]) {
    const { statusCode, headers, body } = await app.inject(url);
    expect([url, statusCode, body]).toEqual([url, 200, "<title>the page</title>"]);
    expect(headers["content-security-policy"]).toContain("script-src 'self';");
    expect(headers["cache-control"]).toBe("no-cache");
  }
});

test("assets with a hash in their name are kept for ever and packed for whoever takes that; others are not there", async () => {
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

test("without a build /app says so, and how to make one", async () => {
  const { statusCode, body } = await serve({ isBuilt: false }).inject("/app/sign-in");
  expect(statusCode).toBe(503);
  expect(body).toContain("npm run build-dashboard");
});

test("the licenses of the bundled code are served as text", async () => {
  const { body, headers } = await serve({ isBuilt: true }).inject("/app/third-party-licenses.md");
  expect([body, headers["content-type"]]).toEqual(["# Licenses", "text/plain; charset=utf-8"]);
  expect((await serve({ isBuilt: false }).inject("/app/third-party-licenses.md")).statusCode).toBe(404);
});
