// Backups of the installation page: written, downloaded, tested and deleted by instance admins (decision 0169).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";
import { ONLY_ADMINS } from "./installation.ts";

/** The name contains the time of the backup in UTC. */
const NAME = /^postloft-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz$/;

const byName = z.object({ name: z.string().regex(NAME, "must be the name of a listed backup") });

const outcome = z.object({
  at: instant,
  works: z.boolean(),
  message: z.string().describe("The rows and tables, or why it failed."),
});

const backup = z.object({
  name: z.string(),
  createdAt: instant,
  bytes: z.number(),
  restoreTest: outcome.nullable().describe("The last restore test. Null if there was none."),
});

const task = z
  .object({ kind: z.enum(["BACKUP", "RESTORE_TEST"]), name: z.string(), startedAt: instant })
  .describe("Runs in a process of its own with a low priority.");

export const listBackups = endpoint({
  name: "installation.backups",
  method: "GET",
  path: "/installation/backups",
  summary: "List the backups in DATA_DIR",
  description: `${ONLY_ADMINS} Lists the folder \`backups\` of the process that responds, the newest first.`,
  caller: "session",
  responses: {
    200: z.object({
      folder: z.string(),
      backups: z.array(backup),
      running: task.nullable(),
      failure: outcome
        .nullable()
        .describe("Why the last backup failed, until another one succeeds or the process ends."),
    }),
  },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const createBackup = endpoint({
  name: "installation.createBackup",
  method: "POST",
  path: "/installation/backups",
  summary: "Start a backup",
  description: `${ONLY_ADMINS} Works like \`npm run backup\`. 409 while a backup or a restore test runs.`,
  caller: "session",
  responses: { 202: task },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const downloadBackup = endpoint({
  name: "installation.downloadBackup",
  method: "GET",
  path: "/installation/backups/:name",
  summary: "Download a backup",
  description: `${ONLY_ADMINS} The file contains addresses in clear text. The secret that opens its keys is not in it.`,
  caller: "session",
  params: byName,
  envelope: "raw",
  contentType: "application/gzip",
  responses: { 200: z.string() },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const testBackup = endpoint({
  name: "installation.testBackup",
  method: "POST",
  path: "/installation/backups/:name/test",
  summary: "Restore a backup into an empty database that is deleted afterwards",
  description: `${ONLY_ADMINS} Shows that the file, its secret and this version belong together. Needs disk space for a copy of the database. 409 while a backup or a restore test runs.`,
  caller: "session",
  params: byName,
  responses: { 202: task },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const deleteBackup = endpoint({
  name: "installation.deleteBackup",
  method: "DELETE",
  path: "/installation/backups/:name",
  summary: "Delete a backup",
  description: `${ONLY_ADMINS} 409 while it is tested.`,
  caller: "session",
  params: byName,
  responses: { 204: null },
  errors: ["RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const BACKUP_ENDPOINTS = [
  listBackups,
  createBackup,
  downloadBackup,
  testBackup,
  deleteBackup,
] as const;
