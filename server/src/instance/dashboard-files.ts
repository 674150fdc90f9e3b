// Serves the dashboard at /app: one page for every address below it, hashed assets, the licenses of bundled code, and its font for other pages.
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { FONT_PATH } from "../platform/http/public-page.ts";

/** Where the build puts the dashboard, in the repository and in the image. */
const DASHBOARD_DIR = join(import.meta.dirname, "../../../dashboard/dist");

/** The licenses of the packages in the assets, written by the build. */
const LICENSES = "third-party-licenses.md";
const HTML = "text/html; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
/** The font in the build. Other pages use it under one name, without the hash. */
const FONT = /^inter-[\w.-]+\.woff2$/;
const FONT_CACHE = "public, max-age=2592000";
/** A file name of the build, so that no other files can be read. */
const ASSET_NAME = /^[\w.-]+$/;
const KEPT_ASSETS = 200;

/**
 * Allows only our scripts and styles. An email is shown in a sandboxed frame that inherits this policy, with inline styles and images but
 * no scripts.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Postloft</title>
<h1>The dashboard is not built</h1>
<p>Start with <code>npm start</code>, which builds it, or run <code>npm run build-dashboard</code>. The API and everything else works
without it: <a href="/docs">its documentation</a>.</p></html>`;

interface Asset {
  plain: Buffer;
  packed: Buffer;
}

/** Adds `/app` and everything below it. `folder` has the build output, which may be missing or appear while the server runs. */
export function addDashboard(app: FastifyInstance, folder = DASHBOARD_DIR): void {
  const assets = new LRUCache<string, Asset>({ max: KEPT_ASSETS });
  const page = async (_request: FastifyRequest, reply: FastifyReply) => {
    const html = await readIfThere(join(folder, "index.html"));
    return reply
      .code(html === null ? 503 : 200)
      .headers({ "content-type": HTML, "content-security-policy": POLICY, "cache-control": "no-cache" })
      .send(html ?? NOT_BUILT);
  };
  app.get(`/app/${LICENSES}`, async (_request, reply) => {
    const text = await readIfThere(join(folder, LICENSES));
    return text === null
      ? reply.code(404).send()
      : reply
          .headers({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" })
          .send(text);
  });
  app.get(FONT_PATH, async (_request, reply) => {
    const name = (await filesIn(join(folder, "assets"))).find((one) => FONT.test(one));
    const asset = name === undefined ? null : await findAsset(assets, folder, name);
    if (asset === null) return reply.code(404).header("cache-control", "no-store").send();
    return reply.headers({ "content-type": TYPES[".woff2"], "cache-control": FONT_CACHE }).send(asset.plain);
  });
  app.get("/app", page);
  app.get("/app/*", page);
  app.get<{ Params: { name: string } }>("/app/assets/:name", async (request, reply) => {
    const asset = await findAsset(assets, folder, request.params.name);
    // An asset of an older build. The page must be reloaded, so this response must not be cached.
    if (asset === null) return reply.code(404).header("cache-control", "no-store").send();
    const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
    return reply
      .headers({
        "content-type": TYPES[extname(request.params.name)],
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(takesGzip ? { "content-encoding": "gzip" } : {}),
      })
      .send(takesGzip ? asset.packed : asset.plain);
  });
}

async function findAsset(
  known: LRUCache<string, Asset>,
  folder: string,
  name: string,
): Promise<Asset | null> {
  if (!ASSET_NAME.test(name) || TYPES[extname(name)] === undefined) return null;
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  const plain = await readIfThere(join(folder, "assets", name));
  if (plain === null) return null;
  const asset = { plain, packed: await promisify(gzip)(plain) };
  known.set(name, asset);
  return asset;
}

const readIfThere = (file: string) => ifThere(readFile(file));
const filesIn = async (folder: string) => (await ifThere(readdir(folder))) ?? [];

/** Returns null if a file or folder does not exist. */
async function ifThere<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
