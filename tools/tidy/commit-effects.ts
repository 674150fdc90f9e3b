// What belongs to a commit can't be forgotten: work notifies its loop where it is written, and one function starts transactions.
import { lineAt, memberNameOf, visit, type SourceFile } from "./source.ts";
import { isHeldToSqlRules, sqlPiecesOf } from "./sql.ts";
import { isTest, type Finding, type Rule, type Tree } from "./tree.ts";

/** Tables that a loop takes work from, with the topic that the loop subscribes to (platform/notify.ts). */
const TOPIC_OF: Readonly<Record<string, string>> = {
  emails: "emails",
  recipient_batches: "emails",
  jobs: "jobs",
  notices: "notices",
  stripe_events: "billing",
  webhook_calls: "webhooks",
  workflow_executions: "workflows",
};

/** Statements that write to these tables and make no work for another loop, by file and function, with the reason. */
export const QUIET: ReadonlyArray<{ path: string; name: string; why: string }> = [
  {
    path: "server/src/emails/sending/sender-queries.ts",
    name: "claimBatch",
    why: "the sender claims these emails itself",
  },
  {
    path: "server/src/emails/outbox/batch-queries.ts",
    name: "skipBatches",
    why: "emails of a cancelled campaign are never sent",
  },
  {
    path: "server/src/emails/outbox/batch-queries.ts",
    name: "takeOutRecipients",
    why: "these recipients waited before",
  },
  {
    path: "server/src/platform/background/job-queries.ts",
    name: "updateJobsToDropped",
    why: "dropped jobs are never done",
  },
  {
    path: "server/src/emails/submission/reconcile-queries.ts",
    name: "takeBack",
    why: "the sender takes its own emails back",
  },
  {
    path: "server/src/emails/lease/held-queries.ts",
    name: "dropHeldEmails",
    why: "dropped emails are never sent",
  },
];

/** A fragment that records events, and with them the reactions that workflows wait for. */
const RECORDS_EVENTS = /\b(insertEventsFrom|recordEventsFrom)\(/;

const DATABASE_PATH = "server/src/platform/database/database.ts";

export const workNotifies = workNotifiesBut(QUIET);

/** The rule with a list of exceptions; one whose function is gone or notifies is to be taken off. */
export function workNotifiesBut(quiet: typeof QUIET): Rule {
  return {
    name: "a function that writes work for a loop notifies it in the same transaction",
    check(tree) {
      const found = functionsWithWork(tree);
      const isQuiet = (one: FunctionWithWork) =>
        quiet.some(({ path, name }) => one.path === path && one.name === name);
      const over = quiet.filter(
        ({ path, name }) =>
          tree.texts.has(path) &&
          !found.some((one) => one.path === path && one.name === name && !one.notifies),
      );
      return [
        ...found
          .filter((one) => !one.notifies && !isQuiet(one))
          .map(({ path, line, name, topic }) => ({
            path,
            line,
            message: `${name} writes work for a loop. Call notify(tx, "${topic}") there, or list it in tools/tidy/commit-effects.ts with the reason.`,
          })),
        ...over.map(({ path, name }) => ({
          path: "tools/tidy/commit-effects.ts",
          message: `lists ${name} of ${path}, which is gone or notifies. Take it off.`,
        })),
      ];
    },
  };
}

/** Only `transaction()` runs the effects of a commit. */
export const oneTransaction: Rule = {
  name: `transactions are started in ${DATABASE_PATH} only`,
  check: ({ sources }) =>
    sources
      .filter(({ path }) => path.startsWith("server/") && path !== DATABASE_PATH && !isTest(path))
      .flatMap(transactionsOf),
};

const CAMPAIGN_STATUS_PATH = "server/src/campaigns/status-queries.ts";
/** Who calls what changes the status, and who pauses: people, the platform, and a hold of the whole installation. */
const CAMPAIGN_CALLERS: ReadonlyArray<{
  name: string;
  pattern: RegExp;
  allowed: readonly string[];
  instead: string;
}> = [
  {
    name: "updateStatus",
    pattern: /\bupdateStatus\b/,
    allowed: [CAMPAIGN_STATUS_PATH, "server/src/campaigns/sync-queue.ts"],
    instead: "Call moveCampaign of server/src/campaigns/sync-queue.ts.",
  },
  {
    name: "TRANSITIONS.pause",
    pattern: /\bTRANSITIONS\.pause\b/,
    allowed: ["pause-automatically", "send-campaign", "held-campaigns"].map(
      (name) => `server/src/campaigns/${name}.ts`,
    ),
    instead: "Call pauseAutomatically of server/src/campaigns/pause-automatically.ts.",
  },
];

/** A forgotten queue would be a paused campaign whose email leaves. */
export const oneCampaignMove: Rule = {
  name: "only moveCampaign changes the status of a campaign, and only pauseAutomatically pauses one for the platform",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => path.startsWith("server/src/campaigns/") && !isTest(path))
      .flatMap((file) => [...statusChangesOf(file), ...foreignCallsOf(file)]),
};

function statusChangesOf(file: SourceFile): Finding[] {
  if (file.path === CAMPAIGN_STATUS_PATH) return [];
  const inSql = sqlPiecesOf(file).filter(({ text }) =>
    /\bupdate\s+campaigns\b(?:\s+\w+)?\s+set\b(?:(?!\bwhere\b)[^])*\bstatus\s*=/i.test(text),
  );
  const inBuilder = [...file.text.matchAll(/\.updateTable\("campaigns"\)(?:(?!execute)[^])*?\bstatus\s*:/g)];
  return [...inSql.map(({ start }) => start), ...inBuilder.map(({ index }) => index)].map((start) => ({
    path: file.path,
    line: lineAt(file.text, start),
    message: `changes the status of campaigns. Call moveCampaign of server/src/campaigns/sync-queue.ts.`,
  }));
}

function foreignCallsOf(file: SourceFile): Finding[] {
  return CAMPAIGN_CALLERS.filter(
    ({ pattern, allowed }) => pattern.test(file.text) && !allowed.includes(file.path),
  ).map(({ name, instead }) => ({ path: file.path, message: `uses ${name}. ${instead}` }));
}

function transactionsOf(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  visit(file, {
    CallExpression({ callee, arguments: input, start }) {
      if (callee.type !== "MemberExpression" || input.length > 0) return;
      if (!["transaction", "startTransaction"].includes(memberNameOf(callee) ?? "")) return;
      findings.push({
        path: file.path,
        line: lineAt(file.text, start),
        message: `starts a transaction of its own, which notifies nobody. Call transaction() of ${DATABASE_PATH}.`,
      });
    },
  });
  return findings;
}

interface FunctionWithWork {
  path: string;
  line: number;
  name: string;
  topic: string;
  notifies: boolean;
}

function functionsWithWork({ sources }: Tree): FunctionWithWork[] {
  return sources
    .filter(({ path }) => path.startsWith("server/src/") && isHeldToSqlRules(path))
    .flatMap((file) => {
      const pieces = sqlPiecesOf(file);
      return functionsOf(file).flatMap(({ name, start, end }) => {
        const text = file.text.slice(start, end);
        const sql = pieces.filter((piece) => piece.start >= start && piece.start < end);
        const topics = new Set(sql.flatMap((piece) => topicsOf(piece.text)));
        if (RECORDS_EVENTS.test(text) && text.includes(".execute(")) topics.add("workflows");
        return [...topics].map((topic) => ({
          path: file.path,
          line: lineAt(file.text, start),
          name,
          topic,
          notifies: new RegExp(`\\bnotify\\(\\w+, "${topic}"\\)`).test(text),
        }));
      });
    });
}

function functionsOf(file: SourceFile): Array<{ name: string; start: number; end: number }> {
  return file.program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type !== "FunctionDeclaration") return [];
    return [{ name: declared.id?.name ?? "", start: declared.start, end: declared.end }];
  });
}

/** Topics of the tables that a statement inserts into, or whose rows it makes due now. */
function topicsOf(sql: string): string[] {
  const inserted = [...sql.matchAll(/\binsert\s+into\s+(\w+)/gi)].map(([, table = ""]) => table);
  const madeDue = [
    ...sql.matchAll(
      /\bupdate\s+(\w+)(?:\s+\w+)?\s+set\b(?:(?!\bwhere\b)[\s\S])*?\bdue_at\s*=\s*now\(\)(?!\s*\+)/gi,
    ),
  ].map(([, table = ""]) => table);
  return [...inserted, ...madeDue].flatMap((table) => TOPIC_OF[table.toLowerCase()] ?? []);
}
