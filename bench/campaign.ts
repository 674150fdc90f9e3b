// `npm run bench campaign [recipients …]`: measures a campaign from *send* to *SENT*, tracked and signed, and its effect on other projects.
import { countingShare } from "./counting.ts";
import { percentile } from "./latency.ts";
import { withMailEnvironment } from "./mail-fixture.ts";
import { measureCampaign, type CampaignCase, type CampaignResult } from "./measure-campaign.ts";
import { addContacts, addProject } from "./outbox.ts";
import { sendPlainly, WARM_UP, type PlainResult } from "./plain-campaign.ts";
import { readNumbers } from "./read-numbers.ts";
import { CONNECTIONS } from "./sink.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const RECIPIENTS = 100_000;
const PLAIN_RECIPIENTS = 2_000;
const MEGABYTE = 1024 * 1024;

export async function benchCampaign(): Promise<void> {
  const sizes = readNumbers([RECIPIENTS]);
  progress(`the plain way, tracked and untracked: ${whole(PLAIN_RECIPIENTS)} recipients`);
  const untracked = await measurePlain(false);
  const plain = [await measurePlain(true)];
  const results: CampaignResult[] = [];
  for (const one of casesOf(sizes)) {
    progress(`a campaign: ${whole(one.recipients)} recipients, ${wayOf(one)}`);
    // Separate database and processes, so that neither caches nor free space from the previous run help.
    results.push(await withMailEnvironment((fixture) => measureCampaign(fixture, one)));
  }
  progress("the plain way again, because machine speed varies");
  plain.push(await measurePlain(true));
  printCampaigns(results, plain, untracked);
  printSizes(results);
  printLatencies(results.filter(({ isAlone }) => !isAlone));
  printGrowth(results.filter(isUsual));
}

/** Runs each size alone, like the plain way. The size used for the targets also runs with more connections, and with other API calls. */
function casesOf(sizes: readonly number[]): CampaignCase[] {
  const recipients = Math.min(RECIPIENTS, Math.max(...sizes));
  return [
    ...sizes.map((size) => ({ recipients: size, connections: CONNECTIONS, isAlone: true })),
    { recipients, connections: 2 * CONNECTIONS, isAlone: true },
    { recipients, connections: CONNECTIONS, isAlone: false },
  ];
}

const isUsual = ({ connections, isAlone }: CampaignCase) => isAlone && connections === CONNECTIONS;
const wayOf = ({ connections, isAlone }: CampaignCase) =>
  `ours, ${connections} connections${isAlone ? "" : ", with other API calls"}`;

function measurePlain(isTracked: boolean): Promise<PlainResult> {
  return withMailEnvironment(async (fixture) => {
    const project = await addProject(fixture.outbox, "Newsletter");
    await addContacts(fixture.outbox, project.id, PLAIN_RECIPIENTS + WARM_UP);
    return sendPlainly(fixture, project.id, isTracked);
  });
}

const speedOf = ({ recipients, tookMs }: PlainResult) => (recipients * 1_000) / tookMs;
const sendingSpeedOf = ({ recipients, sendingMs }: CampaignResult) => (recipients * 1_000) / sendingMs;

function printCampaigns(
  results: readonly CampaignResult[],
  plain: readonly PlainResult[],
  untracked: PlainResult,
): void {
  const plainSpeed = Math.max(...plain.map(speedOf));
  const plainRow = (way: string, result: PlainResult) => [
    way,
    whole(result.recipients),
    "–",
    whole(speedOf(result)),
    "–",
    oneDecimal(speedOf(result) / plainSpeed),
    result.cpuMsPerMail.toFixed(2),
    "–",
    "–",
  ];
  printTable(
    [
      "way",
      "recipients",
      "snapshot s",
      "emails/s to SENT",
      "emails/s while sending",
      "× faster plain run",
      "CPU ms per email",
      "peak MB",
      "counting, % of cores",
    ],
    [
      plainRow("plain, untracked", untracked),
      ...plain.map((result, at) => plainRow(at === 0 ? "plain" : "plain, repeated", result)),
      ...results.map((result) => [
        wayOf(result),
        whole(result.recipients),
        (result.snapshotMs / 1_000).toFixed(2),
        whole(speedOf(result)),
        whole(sendingSpeedOf(result)),
        oneDecimal(speedOf(result) / plainSpeed),
        result.cpuMsPerMail.toFixed(2),
        whole(result.peakBytes / MEGABYTE),
        countingShare(result.countedMs, result.tookMs),
      ]),
    ],
  );
  print("\nTargets: snapshot of 100,000 at most 4 s; 1,200 emails/s to SENT; 5 × plain; 300 MB.\n");
}

function printSizes(results: readonly CampaignResult[]): void {
  printTable(
    ["way", "recipients", "database bytes per recipient", "emails", "events", "other tables"],
    results.map((result) => {
      const { emails, events, others } = result.growth;
      const sums = [emails + events + others, emails, events, others];
      return [
        wayOf(result),
        whole(result.recipients),
        ...sums.map((bytes) => whole(bytes / result.recipients)),
      ];
    }),
  );
  print("\nTarget: at most 460 bytes.\n");
}

/** Returns the count, the median and the 99th percentile. */
const spread = (values: readonly number[]) => [
  whole(values.length),
  oneDecimal(percentile(values, 0.5)),
  oneDecimal(percentile(values, 0.99)),
];

function printLatencies(results: readonly CampaignResult[]): void {
  printTable(
    [
      "recipients",
      "another project's",
      "idle: requests",
      "p50 ms",
      "p99 ms",
      "meanwhile: requests",
      "p50 ms",
      "p99 ms",
      "p99 × idle",
    ],
    results.flatMap(({ recipients, idle, meanwhile }) =>
      (["send", "track"] as const).map((endpoint) => [
        whole(recipients),
        `/v1/${endpoint}`,
        ...spread(idle[endpoint]),
        ...spread(meanwhile[endpoint]),
        oneDecimal(percentile(meanwhile[endpoint], 0.99) / percentile(idle[endpoint], 0.99)),
      ]),
    ),
  );
  print("\nTarget: p99 at most 3 × idle.");
}

function printGrowth(results: readonly CampaignResult[]): void {
  const [first, last] = [results[0], results.at(-1)];
  if (first === undefined || last === undefined || first === last) return;
  const fall = 100 * (1 - sendingSpeedOf(last) / sendingSpeedOf(first));
  print(
    `\nFrom ${whole(first.recipients)} to ${whole(last.recipients)} recipients the sending rate falls by ${oneDecimal(fall)} %. Target from 10,000 to 500,000: at most 15 %.`,
  );
}
