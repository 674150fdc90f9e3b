// `npm run bench <name>`: lists the benchmarks. Each starts the programs it measures, prints a table and leaves nothing behind.
import { benchBounces } from "./bounces.ts";
import { benchCampaign } from "./campaign.ts";
import { benchDashboard } from "./dashboard.ts";
import { benchDeliver } from "./deliver.ts";
import { benchEventNames } from "./event-names.ts";
import { benchFairness } from "./fairness.ts";
import { benchIdle } from "./idle.ts";
import { benchImport } from "./import.ts";
import { benchReports } from "./reports.ts";
import { benchRetention } from "./retention.ts";
import { benchSegments } from "./segments.ts";
import { benchLive } from "./live.ts";
import { benchLogins } from "./logins.ts";
import { benchMonths } from "./months.ts";
import { benchNeighbours } from "./neighbours.ts";
import { benchNotices } from "./notices.ts";
import { benchSend } from "./send.ts";
import { benchStart } from "./start.ts";
import { benchTrack } from "./track.ts";
import { benchTracking } from "./tracking.ts";
import { benchWorkflows } from "./workflows.ts";

interface Benchmark {
  measures: string;
  run: () => Promise<void>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  bounces: {
    measures:
      "-- --folder <path>: returned messages and what each is (expected.tsv), against what is read in them",
    run: benchBounces,
  },
  track: {
    measures: "POST /v1/track: ours against a naive server and one without a database",
    run: benchTrack,
  },
  send: {
    measures: "POST /v1/send with 20 KB of HTML: the same, by what differs from mail to mail",
    run: benchSend,
  },
  tracking: {
    measures: "what links and pixel cost a mail; redirects, opens and clicks a second",
    run: benchTracking,
  },
  deliver: {
    measures:
      "20,000 queued mails (or the number given) to sent over SMTP, signed: ours, nodemailer, the bare transport",
    run: benchDeliver,
  },
  campaign: {
    measures:
      "campaigns to 100,000 (or to the numbers given), tracked and signed; what others notice of them",
    run: benchCampaign,
  },
  fairness: {
    measures:
      "one project queues 200,000 mails (or the number given), another sends one a second; memory meanwhile",
    run: benchFairness,
  },
  logins: {
    measures: "200 logins (or the number given) in the same moment; what tracking waits meanwhile; memory",
    run: benchLogins,
  },
  months: {
    measures:
      "track and notices with a partition for each month of events, and with one table for all; the same of mails",
    run: benchMonths,
  },
  retention: {
    measures:
      "a month of 5,000,000 events (or the number given) that nobody keeps any more goes; what tracking waits meanwhile",
    run: benchRetention,
  },
  neighbours: {
    measures:
      "what a project waits while another one does its worst within its rate limit (rounds: 4, or the number given)",
    run: benchNeighbours,
  },
  idle: {
    measures:
      "a process that waits with 10,000 projects (or the number given): CPU, statements; mail accepted by another",
    run: benchIdle,
  },
  start: {
    measures: "from the start of the program to its ready line, on an empty folder and on one that is there",
    run: benchStart,
  },
  dashboard: {
    measures:
      "the dashboard's lists in a browser, over 100,000 contacts and 500,000 events (or the numbers given): requests, presses, shifts",
    run: benchDashboard,
  },
  segments: {
    measures: "filters over a million contacts: counts and pages, beside the plainest SQL",
    run: benchSegments,
  },
  "event-names": {
    measures: "counts and pages of events by their names, in a project with a million of them",
    run: benchEventNames,
  },
  import: {
    measures: "a CSV file of 5 MB to contacts: ours, COPY, one upsert a row",
    run: benchImport,
  },
  notices: {
    measures:
      "100,000 reports about sent mails, shuffled and repeated, through the interpreter; counters exact",
    run: benchNotices,
  },
  reports: {
    measures:
      "every report and page of the feed: 500,000 events, 200,000 mails, 1,000 small projects (or the numbers given); --ground <folder> keeps them",
    run: benchReports,
  },
  live: {
    measures:
      "0, 1, 200 and 1,000 connections that follow the activity of 1 and 20 projects: CPU and memory of the process, CPU of its database",
    run: benchLive,
  },
  workflows: {
    measures:
      "20,000 executions (or the first number) of six steps; 200,000 (the second) that sleep; tracking; event to mail",
    run: benchWorkflows,
  },
};

const usage = [
  "npm run bench <name> [-- <number> …]",
  "",
  "Runs a benchmark on databases and servers of its own and prints its numbers. docs/benchmarks.md has results.",
  "",
  ...Object.entries(BENCHMARKS).map(([known, { measures }]) => `  ${known.padEnd(12)} ${measures}`),
  "",
].join("\n");

const words = process.argv.slice(2);
const [name = ""] = words;
const benchmark = BENCHMARKS[name];
if (name === "" || words.includes("--help")) process.stdout.write(usage);
else if (benchmark === undefined) {
  process.stderr.write(`There is no benchmark "${name}".\n\n${usage}`);
  process.exitCode = 2;
} else await benchmark.run();
