// Measures how tangled the code is and prints the numbers in `npm test`: import circles, long functions, and nouns spread over folders.
import { posix } from "node:path";
import { folderOf, READING_ORDER, targetOf } from "./reading-order.ts";
import { FUNCTION_MAX_LINES } from "./sizes.ts";
import { importsOf, lineAt, visit } from "./source.ts";
import { tableReadsOf } from "./table-reads.ts";
import { isGenerated, isTest, type Rule, type Tree } from "./tree.ts";

/** Maps each node to its dependencies. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The maximum share of functions longer than FUNCTION_MAX_LINES, nested functions included. */
export const LONG_FUNCTIONS_SHARE = 0.005;
/** The maximum number of server folders with files named after the same noun. */
export const FOLDERS_OF_A_NOUN = 4;

export const importCircles: Rule = {
  name: "no files import each other in a circle, types included",
  check: (tree) =>
    circlesOf(fileGraphOf(tree)).map((circle) => ({
      path: circle[0] ?? "",
      message: `imports itself${circle.length > 1 ? ` by way of ${circle.slice(1).join(", ")}` : ""}. Move the shared code, often a type, into the file that comes first in the reading order.`,
    })),
};

export const longFunctions: Rule = {
  name: `at most ${LONG_FUNCTIONS_SHARE * 100} % of all functions have more than ${FUNCTION_MAX_LINES} lines, nested ones included`,
  check: (tree) => {
    const { total, long } = functionsOf(tree);
    if (long.length <= total * LONG_FUNCTIONS_SHARE) return [];
    return long.map(({ path, line, lines }) => ({
      path,
      line,
      message: `has ${lines} lines including nested functions, and too many functions are this long: ${long.length} of ${total}. Move inner functions out and pass in their dependencies.`,
    }));
  },
};

export const nounsTogether: Rule = {
  name: `a noun is in at most ${FOLDERS_OF_A_NOUN} folders of the server`,
  check: (tree) =>
    nounsOf(tree)
      .filter(({ folders }) => folders.length > FOLDERS_OF_A_NOUN)
      .map(({ noun, folders }) => ({
        path: `server/src/${noun}`,
        message: `has its word in the names of files in ${folders.join(", ")}. Move the files about it into one folder.`,
      })),
};

/** Returns the measured numbers, one per line. */
export function measuresOf(tree: Tree): string[] {
  const folderCircles = circlesOf(folderGraphOf(tree));
  const fileCircles = circlesOf(fileGraphOf(tree));
  const { total, long } = functionsOf(tree);
  const [widest] = nounsOf(tree).toSorted((a, b) => b.folders.length - a.folders.length);
  const folders = folderCircles.map((circle) => ` (${circle.join(", ")})`).join("");
  return [
    `circles of folders, table reads included: ${folderCircles.length}${folders}`,
    `circles of imports, types included: ${fileCircles.length}`,
    `functions over ${FUNCTION_MAX_LINES} lines, nested ones included: ${long.length} of ${total} (${((100 * long.length) / Math.max(total, 1)).toFixed(2)} %)`,
    `folders per noun: ${widest?.folders.length ?? 0} at most (${widest?.noun ?? "none"}: ${widest?.folders.join(", ") ?? ""})`,
  ];
}

/** Returns the dependencies between server folders by imports and table reads. Tests and root files are excluded. */
export function folderGraphOf(tree: Tree): Graph {
  const graph = new Map<string, Set<string>>();
  const add = (from: string | undefined, to: string | undefined): void => {
    if (from !== undefined && to !== undefined && from !== to)
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
  };
  for (const file of tree.sources) {
    if (isTest(file.path)) continue;
    for (const { specifier } of importsOf(file))
      add(folderOf(file.path), folderOf(targetOf(file.path, specifier)));
  }
  for (const { reader, owner } of tableReadsOf(tree)) add(reader, owner);
  return graph;
}

function fileGraphOf(tree: Tree): Graph {
  return new Map(
    tree.sources.map((file) => [
      file.path,
      new Set(importsOf(file).map(({ specifier }) => targetOf(file.path, specifier))),
    ]),
  );
}

/** Returns groups of nodes that can reach each other (Tarjan's algorithm), each sorted. */
export function circlesOf(graph: Graph): string[][] {
  const found = new Map<string, { order: number; lowest: number }>();
  const path: string[] = [];
  const circles: string[][] = [];
  const look = (node: string): { order: number; lowest: number } => {
    const own = { order: found.size, lowest: found.size };
    found.set(node, own);
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const known = found.get(next);
      if (known === undefined) own.lowest = Math.min(own.lowest, look(next).lowest);
      else if (path.includes(next)) own.lowest = Math.min(own.lowest, known.order);
    }
    if (own.lowest === own.order) {
      const group = path.splice(path.indexOf(node));
      if (group.length > 1 || graph.get(node)?.has(node)) circles.push(group.toSorted());
    }
    return own;
  };
  for (const node of graph.keys()) if (!found.has(node)) look(node);
  return circles;
}

function functionsOf(tree: Tree) {
  const long: { path: string; line: number; lines: number }[] = [];
  let total = 0;
  for (const file of tree.sources) {
    if (isTest(file.path) || isGenerated(file.text)) continue;
    const count = ({ start, end }: { start: number; end: number }): void => {
      total += 1;
      const lines = file.text.slice(start, end).split("\n").length;
      if (lines > FUNCTION_MAX_LINES) long.push({ path: file.path, line: lineAt(file.text, start), lines });
    };
    visit(file, { FunctionDeclaration: count, FunctionExpression: count, ArrowFunctionExpression: count });
  }
  return { total, long };
}

/** Returns for each server folder the folders with a file or subfolder named after it, in singular or plural. */
function nounsOf(tree: Tree): { noun: string; folders: string[] }[] {
  const paths = tree.sources.map(({ path }) => path).filter((path) => !isTest(path));
  return READING_ORDER.filter((noun) => noun !== "platform").map((noun) => {
    const forms = new Set([noun, noun.replace(/ies$/, "y"), noun.replace(/s$/, "")]);
    const folders = paths.flatMap((path) => {
      const folder = folderOf(path);
      const words = posix.relative("server/src", path).split(/[-./]/);
      return folder !== undefined && words.some((word) => forms.has(word)) ? [folder] : [];
    });
    return { noun, folders: [...new Set(folders)].toSorted() };
  });
}
