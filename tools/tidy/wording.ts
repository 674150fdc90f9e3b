// Finds unwanted words: meaningless names, machine-specific paths, unfinished work, suppressed checks, and tests that do not run.
import { extname, posix } from "node:path";
import { lineAt, memberNameOf, rootNameOf, visit } from "./source.ts";
import { isTest, type Finding, type Rule } from "./tree.ts";

/** Matches a whole name or its last part, in singular or plural. */
const EMPTY_NAME = /^(.+-)?(utils?|helpers?|commons?|managers?|handlers?|services?|types|index)$/;

// Written so that these lines do not violate the rule themselves.
const MACHINE_PATH = /(?<![\w.])[/](work|root)[/]/;
const UNFINISHED = /\b(T[O]DO|F[I]XME|X{3}|H[A]CK)\b/;
const MARKED_FILES = new Set([".ts", ".tsx", ".js", ".mjs", ".jsx", ".sql", ".css", ".yaml", ".yml"]);

/** Matches comments that suppress a check. They must name the line, the rule and the reason. */
const SUPPRESSION =
  /(?:\/\/|\/\*)\s*(@ts-[\w-]+|(?:oxlint|eslint)-disable(?:-next-line|-line)?|(?:oxfmt|prettier)-ignore)\b(.*)/;
const REASON_MIN_CHARACTERS = 10;

const TEST_FUNCTIONS = new Set(["test", "it", "describe", "suite", "bench", "context", "ctx"]);
const NOT_RUN = new Set(["skip", "only", "todo", "skipIf", "runIf"]);

/** Applies to code only, because tools require names such as index.html. */
export const names: Rule = {
  name: "no file or folder has a meaningless name",
  check: ({ sources, folders }) => {
    const folderFindings = [...folders].flatMap((path) => faultOfName(path, posix.basename(path)));
    const fileFindings = sources.flatMap(({ path }) =>
      faultOfName(path, posix.basename(path).split(".")[0] ?? ""),
    );
    return [...folderFindings, ...fileFindings];
  },
};

/** Tests may use such a path to show that it is rejected. */
export const machinePaths: Rule = {
  name: "no code contains a machine-specific path",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => !isTest(path))
      .flatMap(({ path, text }) =>
        linesWith(
          path,
          text,
          MACHINE_PATH,
          "Take the folder as an argument or make it relative to the file.",
        ),
      ),
};

export const unfinishedWork: Rule = {
  name: "no marker of unfinished work",
  check: ({ texts }) =>
    [...texts]
      .filter(([path]) => MARKED_FILES.has(extname(path)))
      .flatMap(([path, text]) =>
        linesWith(path, text, UNFINISHED, "Do it now, or take it out and say so in an issue."),
      ),
};

export const everyTestRuns: Rule = {
  name: "every test runs: no skip, only or todo",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => isTest(path))
      .flatMap((file) => {
        const findings: Finding[] = [];
        visit(file, {
          MemberExpression(node) {
            const name = memberNameOf(node) ?? "";
            if (!NOT_RUN.has(name) || !TEST_FUNCTIONS.has(rootNameOf(node) ?? "")) return;
            const message = `has a .${name}. Make the test run everywhere, or delete it.`;
            findings.push({ path: file.path, line: lineAt(file.text, node.property.start), message });
          },
        });
        return findings;
      }),
};

export const suppressions: Rule = {
  name: "no check is suppressed without a reason or for a whole file",
  check: ({ sources }) =>
    sources.flatMap(({ path, text }) =>
      text.split("\n").flatMap((content, index): Finding[] => {
        const [, what = "", rest = ""] = SUPPRESSION.exec(content) ?? [];
        if (what === "" || isExcused(what, rest)) return [];
        const message = `suppresses a check by ${what}. Fix the finding; if it is wrong, name the line, the rule and the reason: @ts-expect-error: why, oxlint-disable-next-line rule -- why.`;
        return [{ path, line: index + 1, message }];
      }),
    ),
};

function isExcused(what: string, rest: string): boolean {
  if (what === "@ts-expect-error") return rest.replace(/\*\/\s*$/, "").trim().length >= REASON_MIN_CHARACTERS;
  if (!/-(next-)?line$/.test(what)) return false;
  const [, reason = ""] = /^\s+[\w/-]+\s+--\s+(.+)$/.exec(rest) ?? [];
  return reason.length >= REASON_MIN_CHARACTERS;
}

function faultOfName(path: string, name: string): Finding[] {
  if (!EMPTY_NAME.test(name)) return [];
  return [
    {
      path,
      message: `"${name}" says nothing about its content. Name it after its noun, or after what it does.`,
    },
  ];
}

function linesWith(path: string, text: string, pattern: RegExp, advice: string): Finding[] {
  return text.split("\n").flatMap((content, index) => {
    const found = pattern.exec(content)?.[0];
    return found === undefined ? [] : [{ path, line: index + 1, message: `has "${found}". ${advice}` }];
  });
}
