// Limits the length of files and functions. Those that were longer when the rule was added are listed in ratchet.json and may only shrink.
import { lineAt, visit, type SourceFile } from "./source.ts";
import { isGenerated, isTest, type Finding, type Rule, type Tree } from "./tree.ts";

export const FILE_MAX_LINES = 300;
export const FUNCTION_MAX_LINES = 70;
export const RATCHET_PATH = "tools/tidy/ratchet.json";

/** Current sizes by `path` and by `path function`. */
interface Ratchet {
  fileLines: ReadonlyMap<string, number>;
  functionLines: ReadonlyMap<string, number>;
}

interface Frame {
  startLine: number;
  /** Dotted names of the enclosing functions and its own; undefined for a callback. */
  name: string | undefined;
  /** Lines of named functions inside it. */
  namedLines: number;
}

type FunctionNode = { start: number; end: number };

/** Tests and generated files are exempt, because tests are lists of cases. */
export const sizes: Rule = {
  name: `files have at most ${FILE_MAX_LINES} lines and functions at most ${FUNCTION_MAX_LINES}, or are on the ratchet with their current size`,
  check: (tree) => {
    const ratchet = ratchetOf(tree);
    const files = tree.sources.filter(({ path, text }) => !isTest(path) && !isGenerated(text));
    const fileLines = new Map(files.map(({ path, text }) => [path, text.trimEnd().split("\n").length]));
    const functionLines = new Map(files.flatMap((file) => [...functionLinesOf(file)]));
    return [
      ...compare(fileLines, ratchet.fileLines, FILE_MAX_LINES, "fileLines", "Split it by meaning"),
      ...compare(
        functionLines,
        ratchet.functionLines,
        FUNCTION_MAX_LINES,
        "functionLines",
        "Name a step of it and make that a function",
      ),
    ];
  },
};

function compare(
  sizeByKey: ReadonlyMap<string, number>,
  allowedByKey: ReadonlyMap<string, number>,
  maxLines: number,
  list: keyof Ratchet,
  advice: string,
): Finding[] {
  const findings: Finding[] = [];
  const report = (key: string, message: string): void => {
    const [path = key, name] = key.split(" ");
    findings.push({ path, message: name === undefined ? message : `${name}: ${message}` });
  };
  for (const [key, size] of sizeByKey) {
    const allowed = allowedByKey.get(key);
    if (size > (allowed ?? maxLines))
      report(key, `${size} lines, ${allowed ?? maxLines} allowed. ${advice}.`);
  }
  for (const [key, allowed] of allowedByKey) {
    const size = sizeByKey.get(key) ?? 0;
    if (size <= maxLines)
      report(key, `is no longer over ${maxLines} lines. Delete "${key}" from ${list} in ${RATCHET_PATH}.`);
    else if (size < allowed)
      report(key, `shrank to ${size} lines. Lower "${key}" in ${list} in ${RATCHET_PATH} to ${size}.`);
  }
  return findings;
}

/**
 * Returns the lines of each function by `path name`, prefixed by enclosing functions. A nested named function is counted separately, and a
 * callback counts towards its enclosing function. If two functions have the same name, the longer one counts.
 */
function functionLinesOf(file: SourceFile): Map<string, number> {
  const linesByName = new Map<string, number>();
  const nameByStart = new Map<number, string>();
  const open: Frame[] = [];
  const remember = (
    key: { type: string; name?: unknown; value?: unknown },
    value: FunctionNode | null,
  ): void => {
    const name = key.type === "Literal" ? key.value : key.name;
    if (value !== null && typeof name === "string") nameByStart.set(value.start, name);
  };
  const enter = (node: FunctionNode): void => {
    const ownName = nameByStart.get(node.start);
    const around = open.findLast(({ name }) => name !== undefined)?.name;
    const name = around === undefined || ownName === undefined ? ownName : `${around}.${ownName}`;
    open.push({ startLine: lineAt(file.text, node.start), name, namedLines: 0 });
  };
  const leave = (node: FunctionNode): void => {
    const frame = open.pop();
    if (frame === undefined) return;
    const lines = lineAt(file.text, node.end) - frame.startLine + 1;
    const outer = open.at(-1);
    if (outer !== undefined) outer.namedLines += frame.name === undefined ? frame.namedLines : lines;
    if (outer !== undefined && frame.name === undefined) return;
    const key = `${file.path} ${frame.name ?? "callback"}`;
    linesByName.set(key, Math.max(linesByName.get(key) ?? 0, lines - frame.namedLines));
  };
  visit(file, {
    VariableDeclarator: (node) => remember(node.id, node.init),
    Property: (node) => remember(node.key, node.value),
    MethodDefinition: (node) => remember(node.key, node.value),
    PropertyDefinition: (node) => remember(node.key, node.value),
    FunctionDeclaration(node) {
      if (node.id !== null) remember(node.id, node);
      enter(node);
    },
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
  });
  return linesByName;
}

function ratchetOf(tree: Tree): Ratchet {
  const content: unknown = JSON.parse(tree.texts.get(RATCHET_PATH) ?? "{}");
  return { fileLines: sizesIn(content, "fileLines"), functionLines: sizesIn(content, "functionLines") };
}

function sizesIn(content: unknown, list: keyof Ratchet): Map<string, number> {
  const entries = typeof content === "object" && content !== null ? Object.entries(content) : [];
  const sizeByKey: unknown = entries.find(([key]) => key === list)?.[1] ?? {};
  return new Map(
    Object.entries(typeof sizeByKey === "object" && sizeByKey !== null ? sizeByKey : {}).map(
      ([key, size]) => {
        if (typeof size !== "number")
          throw new TypeError(`${RATCHET_PATH}: ${list} "${key}" must be a number of lines.`);
        return [key, size];
      },
    ),
  );
}
