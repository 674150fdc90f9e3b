// `npm run bench send`: accepted emails a second with one recipient and 20 KB of HTML, by what differs between calls.
import { SECRET_KEY } from "../e2e/program.ts";
import { benchBatches } from "./send-batch.ts";
import { COMPARISON_HEAD, createComparison, NAIVE, NO_DATABASE } from "./compare.ts";
import { ADDRESS_NUMBER, makeRequest, UNIQUE_NUMBER } from "./request.ts";
import { startDatabase, startOurs, startRival, type BenchServer } from "./servers.ts";
import { print, printTable } from "./table.ts";

const CONNECTIONS = 64;
const ROUNDS = 3;
const HTML_LENGTH = 20_480;
const PARAGRAPH =
  "<p>Thank you for your order; here is what we know of it, in a paragraph of the usual length.</p>\n";
/** Typical for an email: a greeting, the subject, a few facts and a footer. */
const VARIABLES =
  '<p>Hello {{firstName ?? "reader"}}, order {{order}} of {{email}} is {{#if late}}late{{else}}on time{{/if}}: {{order}}.</p>\n';

/** Returns 20 KB with the varying part first, then paragraphs. */
function html(...first: readonly string[]): string {
  const head = first.join("\n");
  return head + PARAGRAPH.repeat(Math.floor((HTML_LENGTH - head.length) / PARAGRAPH.length));
}

function sendRequest(body: string) {
  return makeRequest("/v1/send", SECRET_KEY, {
    to: `person-${ADDRESS_NUMBER}@example.com`,
    from: "shop@sandbox.localhost",
    subject: "Your order",
    body,
    data: { order: UNIQUE_NUMBER },
  });
}

/** A number in the body makes the content different for each call. */
const REQUESTS = {
  "same for all, with variables": sendRequest(html(VARIABLES)),
  "unique per email": sendRequest(html(`<p>Order ${UNIQUE_NUMBER}</p>`)),
  "unique per email, with variables": sendRequest(html(`<p>Order ${UNIQUE_NUMBER}</p>`, VARIABLES)),
};

/** Compares batches with single calls, on a server that only accepts. */
async function compareBatches(): Promise<void> {
  const database = await startDatabase();
  try {
    const server = await startOurs(database, { ROLES: "api" });
    try {
      await benchBatches(server, { "20 KB": html(VARIABLES), "0.2 KB": VARIABLES });
    } finally {
      await server.stop();
    }
  } finally {
    await database.stop();
  }
}

export async function benchSend(): Promise<void> {
  if (process.argv.includes("batch")) return compareBatches();
  const closing: Array<() => Promise<void>> = [];
  const closeFrom = async (first: number) => {
    for (const close of closing.splice(first).toReversed()) await close();
  };
  async function start(server: Promise<BenchServer>): Promise<BenchServer> {
    const started = await server;
    closing.push(() => started.stop());
    return started;
  }
  async function database() {
    const started = await startDatabase();
    closing.push(() => started.stop());
    return started;
  }
  try {
    const servers = {
      [NO_DATABASE]: await start(startRival(null)),
      [NAIVE]: await start(startRival(await database())),
      "ours, sent by another process": await start(startOurs(await database(), { ROLES: "api" })),
    };
    const compareServers = createComparison(ROUNDS);
    const rows: string[][] = [];
    for (const [body, request] of Object.entries(REQUESTS)) {
      // A new database each time, because the worker must not send the emails of the previous body.
      const shared = closing.length;
      const sending = await start(startOurs(await database(), { ROLES: "api,worker" }));
      const last = { "ours, sent by the same process": sending };
      const compared = await compareServers(CONNECTIONS, request, servers, last);
      rows.push(...compared.map((row) => [body, ...row]));
      await closeFrom(shared);
    }
    printTable(["body", "server", ...COMPARISON_HEAD], rows);
    print(`\n${CONNECTIONS} connections. Targets: ours at least 1,500 a second, p99 at most 150 ms.`);
  } finally {
    await closeFrom(0);
  }
  await compareBatches();
}
