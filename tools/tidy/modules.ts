// Checks single source files: they start with a header, are no barrels, keep no state, and read no clock.
import { importsOf, lineAt, memberNameOf, visit, type SourceFile } from "./source.ts";
import { isTest, type Finding, type Rule } from "./tree.ts";

const HEADER_MAX_LINES = 4;
const CLOCK = "server/src/platform/clock.ts";
/** Browser code has no other clock. */
const BROWSER_CODE = "server/src/instance/assets/";

/** Not required of `*.test.ts`, because their titles state the purpose. */
export const headers: Rule = {
  name: "every source file starts with one to four lines about its purpose",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => !/\.test\.[a-z]+$/.test(path))
      .flatMap(({ path, text }) => {
        const lines = text.split("\n");
        if (lines[0]?.startsWith("#!")) lines.shift();
        const end = lines.findIndex((line) => !/^\/\/ \S/.test(line));
        if (end >= 1 && end <= HEADER_MAX_LINES) return [];
        const message =
          end > HEADER_MAX_LINES ? `opens with ${end} comment lines` : "does not open with a comment";
        return [
          {
            path,
            line: 1,
            message: `${message}. Write one to ${HEADER_MAX_LINES} "// " lines that state its purpose.`,
          },
        ];
      }),
};

/** A header may use the end of a path, such as `sender.ts` or `emails/sending/sender.ts`. Patterns such as `*.test.ts` are ignored. */
export const headerNames: Rule = {
  name: "every file named in a header exists",
  check: ({ sources, texts }) => {
    const paths = [...texts.keys()].map((path) => `/${path}`);
    return sources.flatMap(({ path, text }) =>
      headerOf(text).flatMap((line, at) =>
        [...line.matchAll(FILE_NAME)]
          .map(([name]) => name.replace(/^(\.\.?\/)+/, ""))
          .filter((name) => name !== "Node.js" && !paths.some((known) => known.endsWith(`/${name}`)))
          .map((name) => ({
            path,
            line: at + 1,
            message: `names ${name} in its header, which does not exist. Use the file's current name.`,
          })),
      ),
    );
  },
};

const FILE_NAME = /(?<![\w*.<>…-])(?:[\w@.-]+\/)*[\w.-]+\.(?:ts|tsx|js|sql|md)\b/g;

function headerOf(text: string): string[] {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !/^(\/\/|#!)/.test(line));
  return lines.slice(0, end === -1 ? lines.length : end);
}

/** Tests may keep values created by beforeAll in a module-level let. */
export const barrelsAndState: Rule = {
  name: "no barrel, no state in a module",
  check: ({ sources }) =>
    sources.flatMap((file) => [...barrelsOf(file), ...(isTest(file.path) ? [] : moduleStateOf(file))]),
};

export const pathAliases: Rule = {
  name: "no path aliases",
  check: ({ sources, texts }) => [
    ...sources.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => /^(#|~|@\/)/.test(specifier))
        .map(({ specifier, line }) => ({
          path: file.path,
          line,
          message: `imports "${specifier}" by an alias. Use the relative path.`,
        })),
    ),
    ...[...texts].flatMap(([path, text]) => {
      const isAlias = /(^|\/)tsconfig[^/]*\.json$/.test(path)
        ? /"paths"\s*:/
        : /(^|\/)package\.json$/.test(path)
          ? /"imports"\s*:/
          : undefined;
      return isAlias?.test(text)
        ? [{ path, message: 'defines path aliases. Delete "paths" or "imports" and write relative paths.' }]
        : [];
    }),
  ],
};

/** The machine's clock may be wrong. Tests simulate other machines and have no other clock. */
export const oneClock: Rule = {
  name: `the date is read in ${CLOCK} only`,
  check: ({ sources }) =>
    sources
      .filter(
        ({ path }) =>
          path.startsWith("server/src/") && !path.startsWith(BROWSER_CODE) && path !== CLOCK && !isTest(path),
      )
      .flatMap((file) =>
        dateReadsOf(file).map((offset) => ({
          path: file.path,
          line: lineAt(file.text, offset),
          message: `reads this machine's clock. Take now() or nowMs() of ${CLOCK}, or performance.now() for durations.`,
        })),
      ),
};

function barrelsOf({ path, program: { body } }: SourceFile): Finding[] {
  const isBarrel =
    body.length > 0 &&
    body.every((statement) => statement.type === "ExportNamedDeclaration" && statement.source !== null);
  const message = "only passes on what other files export. Delete it and import those files.";
  return isBarrel ? [{ path, line: 1, message }] : [];
}

function moduleStateOf(file: SourceFile): Finding[] {
  return file.program.body.flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type !== "VariableDeclaration" || declaration.declare === true) return [];
    if (declaration.kind !== "let" && declaration.kind !== "var") return [];
    const message = `has a module-level ${declaration.kind}. Keep it inside a createX() that main.ts calls once.`;
    return [{ path: file.path, line: lineAt(file.text, statement.start), message }];
  });
}

function isDate(node: { type: string; name?: unknown }): boolean {
  return node.type === "Identifier" && node.name === "Date";
}

function dateReadsOf(file: SourceFile): number[] {
  const offsets: number[] = [];
  visit(file, {
    NewExpression(node) {
      if (isDate(node.callee) && node.arguments.length === 0) offsets.push(node.start);
    },
    MemberExpression(node) {
      if (isDate(node.object) && memberNameOf(node) === "now") offsets.push(node.start);
    },
  });
  return offsets;
}
