// Measures how plain the English is, for each kind of text (docs/writing.md). Numbers above a limit are on the ratchet and may only shrink.
import { parseSync } from "rolldown/utils";
import { visit, type SourceFile } from "./source.ts";
import { isGenerated, RATCHET_PATH, type Finding, type Rule, type Tree } from "./tree.ts";

/** Pronouns, colons and odd phrases per 1,000 words; openers and long sentences in percent. */
export type Metric = "pronouns" | "openers" | "colons" | "odd" | "long";
export type Metrics = Record<Metric, number>;

const LIMITS: Readonly<Metrics> = { pronouns: 1, openers: 4, colons: 22, odd: 2.5, long: 12 };
const LONG_SENTENCE_WORDS = 28;
/** A measurement that improves by more than this must be written into the ratchet, so that it cannot be lost again. */
const SLACK = 0.5;

const PRONOUNS = /\b(whoever|whomever|whom|whose|nobody|somebody|anybody|everybody|whatever)\b/gi;
const OPENERS = /^(what|who|whom|whose|whoever|of|those|that which|how it|where it)\b/i;
const COLONS = /[:;](?=\s|$)/g;
/** Phrases that are correct words in an order that no native engineer would use. */
const ODD = new RegExp(
  [
    "so many",
    "as ever",
    "anew",
    "of before",
    "not [^.]{0,30}any more",
    "no more",
    "all the same",
    "by itself",
    "goes? on",
    "stands? (in|there|for|with|beside|where|above|below)",
    "(came|became) of",
    "(is|are) (told|said)",
    "none of \\w+'s",
    "for (ever|good)",
    "beside",
    "meanwhile",
    "of (its|their|his) own",
    "that holds",
    "as it (is|was) then",
    "in the moment",
    "called so",
    "underway",
    "without a word",
    "one by one",
    "had left",
    "leaves? (nothing|nowhere)",
    "there is nothing",
    "no such",
    "of (mail|mails|those|whom|which)",
  ]
    .map((phrase) => `\\b${phrase}\\b`)
    .join("|"),
  "gi",
);

const GENERATED_PAGE = /^docs\/(api|answers|errors|settings)\.md$/;
const TEST_FUNCTIONS = new Set(["test", "it", "describe"]);
const TRANSLATED = new Set(["t", "plural"]);
const API_TEXTS = new Set(["summary", "description", "message", "suggestion", "note"]);

export const prose: Rule = {
  name: "the English of each kind of text is within the limits of docs/writing.md, or on the ratchet",
  check: (tree) => {
    const ratchet = ratchetOf(tree);
    return [...textsByKind(tree)].flatMap(([kind, texts]) =>
      compare(kind, metricsOf(texts), ratchet[kind] ?? {}),
    );
  },
};

/** Returns the numbers of some texts; all are 0 without a word. */
export function metricsOf(texts: readonly string[]): Metrics {
  const words = texts.reduce((sum, text) => sum + wordsIn(text), 0);
  const sentences = texts.flatMap((text) => text.split(/(?<=[.!?])\s+(?=[A-Z`"(])/));
  const perThousand = (pattern: RegExp): number =>
    words === 0
      ? 0
      : (1_000 * texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)) / words;
  return {
    pronouns: perThousand(PRONOUNS),
    openers: percent(texts, (text) => OPENERS.test(text)),
    colons: perThousand(COLONS),
    odd: perThousand(ODD),
    long: percent(sentences, (sentence) => wordsIn(sentence) > LONG_SENTENCE_WORDS),
  };
}

function percent(items: readonly string[], isCounted: (text: string) => boolean): number {
  return items.length === 0 ? 0 : (100 * items.filter(isCounted).length) / items.length;
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

function compare(kind: string, metrics: Metrics, allowed: Partial<Metrics>): Finding[] {
  return metricNames(metrics).flatMap((metric): Finding[] => {
    const value = Math.round(metrics[metric] * 10) / 10;
    const entry = allowed[metric];
    const place = `prose → "${kind}" → ${metric} in ${RATCHET_PATH}`;
    const most = Math.max(LIMITS[metric], entry ?? 0);
    if (value > most) {
      const message = `${kind}: ${metric} rose to ${value}, ${most} is allowed. Rewrite the new texts by docs/writing.md.`;
      return [{ path: RATCHET_PATH, message }];
    }
    if (entry !== undefined && value <= LIMITS[metric])
      return [{ path: RATCHET_PATH, message: `${kind}: ${metric} is within its limit. Delete ${place}.` }];
    if (entry !== undefined && value < entry - SLACK)
      return [{ path: RATCHET_PATH, message: `${kind}: ${metric} fell to ${value}. Lower ${place}.` }];
    return [];
  });
}

function metricNames(metrics: Metrics): Metric[] {
  return Object.keys(metrics).filter((name): name is Metric => name in LIMITS);
}

/** The texts of the tree by kind: comments of each part, test titles, texts of the dashboard and of the API, documents. */
function textsByKind(tree: Tree): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const add = (kind: string, found: readonly string[]): void => {
    const list = texts.get(kind) ?? [];
    list.push(...found);
    texts.set(kind, list);
  };
  for (const file of tree.sources.filter(({ text }) => !isGenerated(text))) {
    const isTest = /\.test\.tsx?$/.test(file.path);
    const [part = ""] = file.path.split("/");
    if (isTest) add("test titles", stringsGivenTo(file, TEST_FUNCTIONS));
    else
      add(
        ["server", "dashboard"].includes(part) ? `comments of ${part}` : "other comments",
        commentsOf(file),
      );
    if (part === "dashboard" && !isTest) add("texts of the dashboard", stringsGivenTo(file, TRANSLATED));
    if (part === "contract" && !isTest) add("texts of the API", apiTextsOf(file));
  }
  for (const [path, text] of tree.texts)
    if (path.endsWith(".md") && path !== "CHANGELOG.md" && !GENERATED_PAGE.test(path))
      add("documents", paragraphsOf(text));
  return texts;
}

/** Line comments that follow each other are one text. */
function commentsOf({ path, text }: SourceFile): string[] {
  const found: { text: string; end: number }[] = [];
  for (const { type, value, start, end } of parseSync(path, text).comments) {
    const last = found.at(-1);
    const plain = value
      .replaceAll(/^\s*\*+ ?/gm, " ")
      .replaceAll(/\s+/g, " ")
      .trim();
    if (type === "Line" && last !== undefined && /^\n[ \t]*$/.test(text.slice(last.end, start))) {
      last.text += ` ${plain}`;
      last.end = end;
    } else found.push({ text: plain, end });
  }
  return found.map((one) => one.text).filter((one) => /[a-z]{3}/i.test(one) && !/^(oxlint|@ts-|#)/.test(one));
}

function stringsGivenTo(file: SourceFile, functions: ReadonlySet<string>): string[] {
  const found: string[] = [];
  visit(file, {
    CallExpression({ callee, arguments: input }) {
      const inner = callee.type === "CallExpression" ? callee.callee : callee;
      const root = inner.type === "MemberExpression" ? inner.object : inner;
      if (root.type !== "Identifier" || !functions.has(root.name)) return;
      for (const one of input)
        if (one.type === "Literal" && typeof one.value === "string") found.push(one.value);
    },
  });
  return found;
}

function apiTextsOf(file: SourceFile): string[] {
  const found: string[] = [];
  visit(file, {
    Property({ key, value }) {
      const name = key.type === "Identifier" ? key.name : "";
      if (API_TEXTS.has(name) && value.type === "Literal" && typeof value.value === "string")
        found.push(value.value);
    },
    CallExpression({ callee, arguments: [first] }) {
      const isDescribed =
        callee.type === "MemberExpression" &&
        callee.property.type === "Identifier" &&
        callee.property.name === "describe";
      if (isDescribed && first?.type === "Literal" && typeof first.value === "string")
        found.push(first.value);
    },
  });
  return found;
}

/** Paragraphs, list items and table rows, without fenced code. */
function paragraphsOf(document: string): string[] {
  const paragraphs: string[] = [];
  let isFenced = false;
  let isOpen = false;
  for (const line of document.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    const isText = !isFenced && !/^\s*($|```|~~~|\|?\s*:?-{3})/.test(line);
    const text = line
      .replaceAll(/\]\([^)]*\)/g, "]")
      .replaceAll(/`[^`]*`/g, "CODE")
      .replace(/^[#>\-*|\d.\s]+/, "")
      .trim();
    if (!isText) isOpen = false;
    else if (isOpen && !/^\s*([-*|#>]|\d+\.)/.test(line))
      paragraphs.push(`${paragraphs.pop() ?? ""} ${text}`);
    else {
      paragraphs.push(text);
      isOpen = true;
    }
  }
  return paragraphs.filter((one) => one !== "");
}

function ratchetOf(tree: Tree): Record<string, Partial<Metrics>> {
  const content = JSON.parse(tree.texts.get(RATCHET_PATH) ?? "{}") as {
    prose?: Record<string, Partial<Metrics>>;
  };
  return content.prose ?? {};
}
