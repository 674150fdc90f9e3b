// `npm run bench bounces -- --folder <path>`: a folder of messages that came back (`*.eml`) and what each is (`expected.tsv`), read as the
// SMTP door's reader does.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newId } from "../server/src/platform/ids.ts";
import { readReturnedMessage, type Reading } from "../server/src/deliveries/returned-message.ts";
import { createReturnPaths } from "../server/src/deliveries/return-path.ts";
import type { ReportKind } from "../server/src/deliveries/rules.ts";
import { print, printTable } from "./table.ts";

/** `file`, `class`, `reason`, `status`, `reader`, with tabs between them. */
interface Expected {
  file: string;
  classes: readonly string[];
  reason: string;
  reader: string;
}

interface Result extends Expected {
  read: readonly string[];
  told: string;
  verdict: Verdict;
}

/** `hard-as-soft` and `soft-as-hard` count people who stay though they are gone, and who lose their mail though they are there. */
type Verdict = "right" | "soft-as-hard" | "hard-as-soft" | "dropped" | "other";
const VERDICTS: readonly Verdict[] = ["right", "soft-as-hard", "hard-as-soft", "dropped", "other"];

/** A refusal about us or the message leaves the contact alone, as a soft bounce does. */
const CLASSES: Readonly<Record<ReportKind, string>> = {
  sent: "none",
  delivered: "delivered",
  delayed: "delayed",
  "hard-bounce": "hard",
  "soft-bounce": "soft",
  refused: "soft",
  complaint: "complaint",
  "not-spam": "none",
  opened: "none",
  clicked: "none",
  unsubscribed: "unsubscribed",
};

const BARS = "Bars: 90 % right, at most 1 % soft-as-hard, at most 3 % dropped.";

export async function benchBounces(): Promise<void> {
  const { values } = parseArgs({ options: { folder: { type: "string" } }, allowPositionals: true });
  if (values.folder === undefined)
    throw new Error(
      "npm run bench bounces -- --folder <path>: a folder with *.eml and an expected.tsv (file, class, reason, status, reader)",
    );
  const expected = parseExpected(await readFile(join(values.folder, "expected.tsv"), "utf8"));
  const files = new Set(await readdir(values.folder));
  const results: Result[] = [];
  const startedMs = performance.now();
  for (const one of expected)
    if (files.has(one.file)) results.push(await judge(one, await readFile(join(values.folder, one.file))));
  const tookMs = performance.now() - startedMs;
  for (const { verdict, file, classes, reason, read, told } of results)
    if (verdict !== "right")
      print(`${verdict}\t${file}\t${classes.join("+")} (${reason}), read as ${read.join("+")}: ${told}`);
  const readers = [...Map.groupBy(results, ({ reader }) => reader)].sort();
  printTable(
    ["reader", "messages", ...VERDICTS],
    [...readers, ["all", results] as const].map(([reader, own]) => [
      reader === "" ? "(none)" : reader,
      String(own.length),
      ...VERDICTS.map((verdict) => String(own.filter((one) => one.verdict === verdict).length)),
    ]),
  );
  const share = (verdict: Verdict) =>
    `${((results.filter((one) => one.verdict === verdict).length * 100) / results.length).toFixed(1)} % ${verdict}`;
  print(`\n${VERDICTS.map(share).join(", ")}; ${(tookMs / results.length).toFixed(1)} ms a message. ${BARS}`);
}

function parseExpected(text: string): Expected[] {
  const [head = "", ...lines] = text.split(/\r?\n/).filter((line) => line !== "");
  const names = head.split("\t");
  return lines.map((line) => {
    const cells = line.split("\t");
    const cell = (name: string) => cells[names.indexOf(name)] ?? "";
    return {
      file: cell("file"),
      classes: cell("class").split("+"),
      reason: cell("reason"),
      reader: cell("reader"),
    };
  });
}

/** Each message comes to the return path of a mail of its own, with the empty sender of a machine. */
async function judge(expected: Expected, raw: Buffer): Promise<Result> {
  const returnPaths = createReturnPaths("a secret for this benchmark only");
  const recipient = `${returnPaths.localPartOf(newId(), newId())}@bounce.example`;
  const reading = await readReturnedMessage(
    raw,
    { sender: "", recipient },
    { returnPaths, ownDomains: ["bounce.example"] },
  );
  const read = classesOf(reading);
  return { ...expected, read, told: toldBy(reading), verdict: verdictOf(expected.classes, read) };
}

function classesOf(reading: Reading): string[] {
  if (reading.kind !== "reports") return ["none"];
  return [...new Set(reading.reports.map(({ kind }) => CLASSES[kind]))].sort();
}

function toldBy(reading: Reading): string {
  if (reading.kind === "ignored") return reading.why;
  return reading.kind !== "reports"
    ? "a person's message"
    : JSON.stringify(reading.reports.map(({ data }) => data));
}

const isLate = (classes: readonly string[]) => classes.every((one) => one === "soft" || one === "delayed");

function verdictOf(expected: readonly string[], read: readonly string[]): Verdict {
  if (read.length > 0 && read.every((one) => expected.includes(one))) return "right";
  // What was given up is a soft bounce here; the verdict says `delayed` of both, and sometimes of neither.
  if (isLate(expected) && isLate(read)) return "right";
  if (expected.includes("none")) return "other";
  if (read.includes("none")) return "dropped";
  if (read.includes("hard") && !expected.includes("hard")) return "soft-as-hard";
  return expected.includes("hard") && !read.includes("hard") ? "hard-as-soft" : "other";
}
