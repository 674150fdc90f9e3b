// `npm run bench <name>`: lists the benchmarks. Each starts the programs it measures, prints a table and leaves nothing behind.
import { benchCampaign } from "./campaign.ts";
import { benchDeliver } from "./deliver.ts";
import { benchIdle } from "./idle.ts";
import { benchImport } from "./import.ts";
import { benchReports } from "./reports.ts";
import { benchSegments } from "./segments.ts";
import { benchNeighbours } from "./neighbours.ts";
import { benchSend } from "./send.ts";
import { benchSubmission } from "./submission.ts";
import { benchTrack } from "./track.ts";
import { benchWebhooks } from "./webhooks.ts";
import { benchWorkflowSteps } from "./workflows.ts";

interface Benchmark {
  measures: string;
  run: () => Promise<void>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  track: {
    measures: "POST /v1/track, compared with a naive server and one without a database",
    run: benchTrack,
  },
  send: {
    measures:
      "POST /v1/send with 20 KB of HTML, compared with the same servers, and with batches (`batch`: only those)",
    run: benchSend,
  },
  submission: {
    measures: "messages of 20 KB over SMTP at 64 connections, compared with one transaction for each message",
    run: benchSubmission,
  },
  deliver: {
    measures:
      "20,000 queued emails (or the number given) over SMTP, compared with nodemailer and the bare transport",
    run: benchDeliver,
  },
  campaign: {
    measures:
      "tracked and signed campaigns to 100,000 contacts (or the numbers given), and their effect on other projects",
    run: benchCampaign,
  },
  "workflow-steps": {
    measures:
      "20,000 executions of six steps (or the number given), compared with one execution per transaction",
    run: benchWorkflowSteps,
  },
  segments: {
    measures: "counts and pages of filters over a million contacts, compared with the plainest SQL",
    run: benchSegments,
  },
  import: {
    measures: "a CSV file of 5 MB, compared with COPY and one upsert per row",
    run: benchImport,
  },
  reports: {
    measures:
      "every report over 500,000 events, 200,000 emails and 1,000 small projects (or the numbers given); --ground <folder> keeps them",
    run: benchReports,
  },
  webhooks: {
    measures: "100,000 events (or the number given) to one endpoint, compared with the bare calls",
    run: benchWebhooks,
  },
  neighbours: {
    measures:
      "the waits of a project next to one that does its worst within its rate limit (4 rounds, or the number given)",
    run: benchNeighbours,
  },
  idle: {
    measures: "a process that waits with 10,000 projects (or the number given): CPU and statements",
    run: benchIdle,
  },
};

const usage = [
  "npm run bench <name> [-- <number> …]",
  "",
  "Runs a benchmark on separate databases and servers and prints the results. docs/benchmarks.md has results.",
  "",
  ...Object.entries(BENCHMARKS).map(([known, { measures }]) => `  ${known.padEnd(15)} ${measures}`),
  "",
].join("\n");

const words = process.argv.slice(2);
const [name = ""] = words;
const benchmark = BENCHMARKS[name];
if (name === "" || words.includes("--help")) process.stdout.write(usage);
else if (benchmark === undefined) {
  process.stderr.write(`Unknown benchmark "${name}".\n\n${usage}`);
  process.exitCode = 2;
} else await benchmark.run();
