// Generates TypeScript clients from contract/openapi.json with two generators, each with a program that uses it.
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OPENAPI = join(ROOT, "contract/openapi.json");
const OLDER_TYPESCRIPT = new URL("older-typescript.ts", import.meta.url).href;
const GENERATION_TIMEOUT_MS = 60_000;

/** As strict as callers may compile. Declarations of libraries are not checked, because the generated code belongs to the callers. */
const TSCONFIG = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["**/*.ts"],
};

export interface ClientFolder {
  /** Bundles and imports a program of the folder. Returns its exports. */
  load<Exports>(program: string): Promise<Exports>;
  /** Returns the compiler's errors in clients and programs, or an empty text. */
  compile(): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Generates `hey-api/` and `oazapfts.ts` in a new folder and writes the programs next to them, by file name.
 * @throws Error with the generator's output if it fails
 */
export async function generateClients(programs: Readonly<Record<string, string>>): Promise<ClientFolder> {
  const path = await mkdtemp(join(tmpdir(), "postloft-clients-"));
  await symlink(join(ROOT, "node_modules"), join(path, "node_modules"), "dir");
  await writeFile(join(path, "package.json"), '{"type":"module"}');
  await writeFile(join(path, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const [name, text] of Object.entries(programs)) await writeFile(join(path, name), text);
  await Promise.all([
    runTool(path, "@hey-api/openapi-ts", ["-i", OPENAPI, "-o", "hey-api", "--silent", "--no-log-file"], {
      NODE_OPTIONS: `--import=${OLDER_TYPESCRIPT}`,
    }),
    runTool(path, "oazapfts", [OPENAPI, "oazapfts.ts"]),
  ]);
  return {
    async load(program) {
      const bundle = await rolldown({ input: join(path, program), logLevel: "silent" });
      const file = join(path, `${program}.bundle.js`);
      await bundle.write({ file }).finally(() => bundle.close());
      return import(/* @vite-ignore */ pathToFileURL(file).href);
    },
    compile: () =>
      runTool(path, "typescript", ["-p", "."]).then(
        () => "",
        (error: unknown) => (error as { stdout?: string }).stdout || String(error),
      ),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Runs an installed package's first program in the folder. */
async function runTool(
  cwd: string,
  name: string,
  commandLine: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const manifest = join(ROOT, "node_modules", name, "package.json");
  const { bin } = createRequire(import.meta.url)(manifest) as { bin: string | Record<string, string> };
  const [program = ""] = typeof bin === "string" ? [bin] : Object.values(bin);
  await run(process.execPath, [join(dirname(manifest), program), ...commandLine], {
    cwd,
    env: { ...process.env, ...settings },
    timeout: GENERATION_TIMEOUT_MS,
  });
}
