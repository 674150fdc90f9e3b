// Measures accepted emails a second in batches next to single calls, on one server and with the same emails.
import { SECRET_KEY } from "../e2e/program.ts";
import { percentileMs, perSecond, runLoad } from "./load.ts";
import { ADDRESS_NUMBER, makeRequest, UNIQUE_NUMBER } from "./request.ts";
import type { BenchServer } from "./servers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

const WARM_UP_MS = 2_000;
const MEASURE_MS = 4_000;
const ROUNDS = 3;
/** Keeps the request numbers of each run distinct. */
const NUMBERS_PER_RUN = 1_000_000;
/** Emails per call, and the connections that send such calls. */
const CALLS = [
  { emails: 1, connections: 64 },
  { emails: 100, connections: 4 },
  { emails: 1_000, connections: 2 },
];

function emailOf(number: number, body: string) {
  return {
    to: `person-${number}-${ADDRESS_NUMBER}@example.com`,
    from: "shop@sandbox.localhost",
    subject: "Your order",
    body,
    data: { order: UNIQUE_NUMBER },
  };
}

function requestOf(emails: number, body: string) {
  if (emails === 1) return makeRequest("/v1/send", SECRET_KEY, emailOf(0, body));
  const list = Array.from({ length: emails }, (_, at) => emailOf(at, body));
  return makeRequest("/v1/send/batch", SECRET_KEY, { emails: list });
}

/** Prints a table with the emails a second of each kind of call, by body. Uses the median of three rounds, each of all kinds in turn. */
export async function benchBatches(
  { port }: BenchServer,
  bodies: Readonly<Record<string, string>>,
): Promise<void> {
  let runs = 0;
  const rows: string[][] = [];
  for (const [name, body] of Object.entries(bodies)) {
    const measured = CALLS.map(({ emails, connections }) => ({
      emails,
      connections,
      request: requestOf(emails, body),
      results: [] as Array<{ emailsPerSecond: number; p50: number; p99: number }>,
    }));
    for (let round = 0; round < ROUNDS; round++)
      for (const { emails, connections, request, results } of measured) {
        const firstNumber = NUMBERS_PER_RUN * runs++;
        const spec = { port, connections, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS, request, firstNumber };
        const result = await runLoad(spec);
        const [p50, p99] = [percentileMs(result, 0.5), percentileMs(result, 0.99)];
        results.push({ emailsPerSecond: perSecond(result) * emails, p50, p99 });
      }
    let single = Number.NaN;
    for (const { emails, connections, results } of measured) {
      const middle = results.toSorted((a, b) => a.emailsPerSecond - b.emailsPerSecond)[1];
      if (middle === undefined) throw new Error("No run was measured.");
      if (emails === 1) single = middle.emailsPerSecond;
      const call = emails === 1 ? "POST /v1/send" : `POST /v1/send/batch with ${whole(emails)}`;
      rows.push([
        name,
        call,
        String(connections),
        whole(middle.emailsPerSecond),
        oneDecimal(middle.p50),
        oneDecimal(middle.p99),
        oneDecimal(middle.emailsPerSecond / single),
      ]);
    }
  }
  printTable(["body", "call", "connections", "emails/s", "p50 ms", "p99 ms", "× single"], rows);
  print("\nTarget: a batch accepts at least 5 times as many emails a second as single calls.");
}
