// `npm run bench send`: accepted mails a second, one recipient and 20 KB of HTML each, by what differs from call to call.
// Before it: bench.ts. After it: a table; what it must show is in docs/benchmarks.md.
import { SECRET_KEY } from "../e2e/program.ts";
import { COMPARISON_HEAD, createComparison, NAIVE, NO_DATABASE } from "./compare.ts";
import { ADDRESS_NUMBER, makeRequest, UNIQUE_NUMBER } from "./request.ts";
import { startDatabase, startOurs, startRival, type BenchServer } from "./servers.ts";
import { print, printTable } from "./table.ts";

const CONNECTIONS = 64;
const HTML_LENGTH = 20_480;
const PLAIN =
  "<p>Thank you for your order; here is what we know of it, in a paragraph of the usual length.</p>\n";
const WITH_VARIABLES = PLAIN.replace("your order", 'your order {{order}}, {{firstName ?? "reader"}}');

/** 20 KB of paragraphs after a first one that holds the mark. */
function html(paragraph: string, mark: string): string {
  return `<p>${mark}</p>\n${paragraph.repeat(Math.floor(HTML_LENGTH / paragraph.length))}`;
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

/** A number in the body makes it another one for each call. */
const REQUESTS = {
  "same body, variables": sendRequest(html(WITH_VARIABLES, "Shop")),
  "each body its own": sendRequest(html(PLAIN, `Order ${UNIQUE_NUMBER}`)),
  "each body its own, variables": sendRequest(html(WITH_VARIABLES, `Order ${UNIQUE_NUMBER}`)),
};

export async function benchSend(): Promise<void> {
  const rows: string[][] = [];
  const compareServers = createComparison();
  for (const [body, request] of Object.entries(REQUESTS)) {
    const closing: Array<() => Promise<void>> = [];
    try {
      // Databases of their own for each kind of body: none inherits the mails of the one before.
      const databases = [await startDatabase(), await startDatabase(), await startDatabase()] as const;
      closing.push(...databases.map((database) => () => database.stop()));
      const servers: Record<string, BenchServer> = {
        [NO_DATABASE]: await startRival(null),
        [NAIVE]: await startRival(databases[0]),
        "ours, sent elsewhere": await startOurs(databases[1], { ROLES: "api" }),
      };
      const sending = { "ours, sending beside it": await startOurs(databases[2], { ROLES: "api,worker" }) };
      closing.push(...Object.values({ ...servers, ...sending }).map((server) => () => server.stop()));
      const compared = await compareServers(servers, CONNECTIONS, request, sending);
      rows.push(...compared.map((row) => [body, ...row]));
    } finally {
      for (const close of closing.toReversed()) await close();
    }
  }
  printTable(["body", "server", ...COMPARISON_HEAD], rows);
  print(`\n${CONNECTIONS} connections. Bars: ours at least 1,500 a second, p99 at most 150 ms.`);
}
