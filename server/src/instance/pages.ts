// Serves the HTML pages and their assets: `/`, `/app`, `/mailbox`, `/docs` and `/docs/errors`.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";
import type { Database } from "../platform/database/database.ts";
import { shared } from "./shared-work.ts";
import { addDashboard } from "./dashboard-files.ts";
import { errorsPage } from "./errors-page.ts";
import { readReadiness } from "./health.ts";
import { homePage } from "./home-page.ts";
import { nextStep, readProgress } from "./next-step.ts";
import type { InstanceFacts } from "./facts.ts";

const HTML = "text/html; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};
const ASSETS = [
  "page.css",
  "mailbox.css",
  "mailbox.js",
  "mailbox-calls.js",
  "mailbox-message.js",
  "favicon.svg",
] as const;

const NOWHERE = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const PLAIN_POLICY = `default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; ${NOWHERE}`;

/**
 * The frame that shows an email inherits this policy in addition to its own, so it allows everything an email may have: styles, and images
 * on request. Scripts must be our files, and the frame runs none.
 */
const MAILBOX_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src data: http: https:",
  "connect-src 'self'",
  NOWHERE,
].join("; ");

/** Adds all pages. */
export async function addPages(
  app: FastifyInstance,
  { database, facts }: { database: Database; facts: InstanceFacts },
): Promise<void> {
  const home = shared(() => makeHome(database, facts));
  app.get("/", async (_request, reply) =>
    reply.headers({ "content-type": HTML, "content-security-policy": PLAIN_POLICY }).send(await home()),
  );
  const mailbox = await read("mailbox.html");
  app.get("/mailbox", async (_request, reply) =>
    reply.headers({ "content-type": HTML, "content-security-policy": MAILBOX_POLICY }).send(mailbox),
  );
  for (const name of ASSETS) {
    const text = await read(name);
    const type = TYPES[extname(name)];
    app.get(`/assets/${name}`, async (_request, reply) => reply.header("content-type", type).send(text));
  }
  const errors = errorsPage();
  app.get("/docs/errors", async (_request, reply) =>
    reply.headers({ "content-type": HTML, "content-security-policy": PLAIN_POLICY }).send(errors),
  );
  addDashboard(app);
  addDocs(app);
}

async function makeHome(database: Database, facts: InstanceFacts): Promise<string> {
  const readiness = await readReadiness(database, facts.dataDir);
  // Without a database the page says so, which is the next step.
  const progress = await readProgress(database).catch(() => null);
  const step = progress === null ? null : nextStep(progress, facts);
  return homePage(readiness, step, facts.transportName === "mailbox");
}

function read(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, "assets", name), "utf8");
}

function addDocs(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (request.routeOptions.url === "/docs/" && typeof payload === "string")
      reply.header("content-security-policy", docsPolicy(payload));
    done(null, payload);
  });
  app.register(scalar, {
    routePrefix: "/docs",
    configuration: {
      url: "/openapi.json",
      title: "Postloft API",
      // The page must not contact any other server.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}

/**
 * Allows one script file of ours and the page's inline scripts by hash, and requests only to this server. The documentation's program adds
 * inline styles and embeds small images and fonts.
 */
function docsPolicy(page: string): string {
  const inline = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}
