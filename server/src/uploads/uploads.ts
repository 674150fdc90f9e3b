// Stores, lists, deletes and serves the images of a project (spec §4.12; docs/decisions/0049-uploads.md).
import { createHash } from "node:crypto";
import type * as contract from "@postloft/contract/uploads.ts";
import { formatBytes, LIMITS } from "@postloft/contract/limits/limits.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import type { z } from "zod";
import { withValues, type ErrorMessage } from "@postloft/contract/translation.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { costlyWork } from "../platform/background/fair-queue.ts";
import { createImageEncoder } from "./encode-apart.ts";
import {
  deleteUnusedRows,
  deleteUploadRow,
  findUpload,
  findUploadByHash,
  insertUpload,
  lockUpload,
  listUploadRows,
  listUses,
  renewUpload,
  sumUploads,
  updateAlt,
  type NewUpload,
  type UploadRow,
  type UseRow,
} from "./queries.ts";
import { keyOf, keyStart, newFile, ownImagePath, pathOf, readKey, shownName } from "./rules.ts";
import type { OpenedFile, Storage } from "./storage.ts";

/** The name of the list in its cursors. */
export const UPLOADS = "uploads";

export interface UploadDependencies {
  database: Database;
  storage: Storage;
  /** The public URL, without a trailing slash. */
  baseUrl: () => string;
  log: Log;
}

export type Image = z.output<typeof contract.image>;

export type ListedImage = z.output<typeof contract.storedImage>;

interface PreparedUpload extends Omit<NewUpload, "createdAt"> {
  /** Whether its row and its file exist. */
  isKnown: boolean;
}

export interface Uploads {
  /**
   * Stores the file, which is not accessible before its row is committed.
   *
   * @throws AppError VALIDATION_ERROR on `image`, CONFLICT if the project is full, RATE_LIMIT_EXCEEDED if too many wait,
   * SERVICE_UNAVAILABLE while files cannot be stored
   */
  prepare(projectId: string, input: UploadedFile): Promise<PreparedUpload>;
  /**
   * Publishes the image with the commit, or returns the existing one.
   * @throws AppError CONFLICT if it is being deleted
   */
  add(tx: Tx, upload: PreparedUpload): Promise<Image>;
  /** Removes the file if another request stored the same image first. */
  settle(upload: PreparedUpload, image: Image): Promise<void>;
  list(
    projectId: string,
    request: PageRequest,
  ): Promise<Page<ListedImage> & { total: number; storedBytes: number }>;
  /** Changes the alt text. @throws AppError UPLOAD_NOT_FOUND */
  changeAlt(tx: Tx, projectId: string, image: { key: string; alt: string }): Promise<Image>;
  /** @throws AppError UPLOAD_NOT_FOUND, CONFLICT while the image is in use */
  remove(projectId: string, key: string): Promise<void>;
  /** Deletes rows. Call `removeFiles` after the commit. */
  removeUnused(tx: Tx, projectId: string): Promise<{ paths: string[]; freedBytes: number; hasMore: boolean }>;
  /** Removes the files of deleted rows. Failures are swept later. */
  removeFiles(paths: readonly string[]): Promise<void>;
  /** @throws AppError UPLOAD_NOT_FOUND, SERVICE_UNAVAILABLE while files cannot be read */
  open(key: string): Promise<{ image: UploadRow; file: OpenedFile }>;
}

/**
 * Locks an image of the project, given its URL, so that it is not deleted before the commit. Returns whether it exists, or null if the URL
 * is not an image of the project.
 */
export async function lockOwnImage(tx: Tx, projectId: string, url: string): Promise<boolean | null> {
  const key = ownImagePath(projectId, url)?.split("/").at(-1);
  const name = key === undefined ? null : readKey(key);
  return name === null ? null : lockUpload(tx, name);
}

/** Encodes one image at a time per process, because libvips may need a hundred megabytes. Waiting uploads are in memory. */
const ENCODING = { resource: "image", waitingPerOwner: 8, waiting: 16 };
const RETRY_AFTER_SECONDS = 5;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createUploads(deps: UploadDependencies): Uploads {
  const { database } = deps;
  const encode = createImageEncoder();
  const present = (projectId: string, row: Omit<UploadRow, "createdAt">): Image => {
    const key = keyOf({ projectId, file: row.file });
    const url = `${deps.baseUrl()}/images/${key}`;
    const { name: filename, contentType, bytes: size, width, height, alt } = row;
    return { url, key, filename, contentType, size, width, height, alt };
  };
  return {
    prepare: (projectId, input) => {
      if (input.bytes.length > LIMITS.uploadFileBytes.value)
        throw invalidField(
          "image",
          "too_big",
          withValues("The image may have at most {most}.", {
            most: formatBytes(LIMITS.uploadFileBytes.value),
          }),
        );
      return costlyWork.run({ owner: projectId, ...ENCODING }, () =>
        prepareUpload({ ...deps, encode }, projectId, input),
      );
    },
    async add(tx, upload) {
      // Never inserts a known image again, because a concurrent deletion may be about to remove its file.
      const row = await (upload.isKnown ? renewUpload : insertUpload)(tx, upload);
      if (row === undefined)
        throw new AppError("CONFLICT", {
          message: "The same image is being deleted. Upload it again in a moment.",
        });
      return present(upload.projectId, row);
    },
    async settle({ projectId, file }, image) {
      if (keyOf({ projectId, file }) !== image.key) await removeFiles(deps, [pathOf({ projectId, file })]);
    },
    async list(projectId, request) {
      const [rows, sum] = await Promise.all([
        listUploadRows(database, projectId, request),
        sumUploads(database, projectId),
      ]);
      const files = rows.map(({ file }) => file);
      const uses = await usesOf(database, projectId, files);
      const page = toPage(UPLOADS, request, rows, (row) => ({
        ...present(projectId, row),
        createdAt: row.createdAt.toISOString(),
        usedBy: uses
          .filter(({ file }) => file === row.file)
          .map(({ type, id, name }) => ({ type, id, name })),
      }));
      return { ...page, total: sum.images, storedBytes: sum.bytes };
    },
    async changeAlt(tx, projectId, { key, alt }) {
      const name = readKey(key);
      const row = name?.projectId === projectId ? await updateAlt(tx, name, alt) : undefined;
      if (row === undefined) throw new AppError("UPLOAD_NOT_FOUND");
      return present(projectId, row);
    },
    async remove(projectId, key) {
      const name = readKey(key);
      if (name === null || name.projectId !== projectId) throw new AppError("UPLOAD_NOT_FOUND");
      await transaction(database, async (tx) => {
        if (!(await deleteUploadRow(tx, name))) throw new AppError("UPLOAD_NOT_FOUND");
        // Checked after the lock. The error rolls the deletion back.
        const users = await usesOf(tx, projectId, [name.file]);
        if (users.length > 0) throw new AppError("CONFLICT", inUse(users));
      });
      await removeFiles(deps, [pathOf(name)]);
    },
    async removeUnused(tx, projectId) {
      const most = LIMITS.uploadsDeleted.value;
      const hours = LIMITS.uploadGraceHours.value;
      const rows = await deleteUnusedRows(tx, { projectId, start: keyStart(projectId), hours, most });
      return {
        paths: rows.map(({ file }) => pathOf({ projectId, file })),
        freedBytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
        hasMore: rows.length === most,
      };
    },
    removeFiles: (paths) => removeFiles(deps, paths),
    async open(key) {
      const name = readKey(key);
      const image = name === null ? undefined : await findUpload(database, name);
      if (name === null || image === undefined) throw new AppError("UPLOAD_NOT_FOUND");
      const file = await orUnavailable(deps, deps.storage.open(name));
      if (file === null) throw new AppError("UPLOAD_NOT_FOUND");
      return { image, file };
    },
  };
}

async function prepareUpload(
  deps: UploadDependencies & { encode: ReturnType<typeof createImageEncoder> },
  projectId: string,
  { bytes, filename }: UploadedFile,
): Promise<PreparedUpload> {
  const { database, storage } = deps;
  const sourceHash = createHash("sha256").update(bytes).digest();
  const known = await findUploadByHash(database, projectId, sourceHash);
  const asKnown = known === undefined ? null : { ...known, projectId, sourceHash, isKnown: true };
  // The file of a row may be missing, because a backup contains only rows.
  if (asKnown !== null && (await orUnavailable(deps, storage.has({ projectId, file: asKnown.file }))))
    return asKnown;
  const { bytes: stored } = await sumUploads(database, projectId);
  if (asKnown === null) requireSpace(stored, 1);
  // Throws only if sharp has no binary for this machine.
  const encoding = await orUnavailable(deps, deps.encode(bytes));
  if (!encoding.ok) throw invalidField("image", "custom", encoding.problem);
  const { image } = encoding;
  if (asKnown === null) requireSpace(stored, image.bytes.length);
  const file = asKnown?.file ?? newFile(image.type);
  await orUnavailable(deps, storage.write({ projectId, file }, image.bytes, image.type));
  if (asKnown !== null) return asKnown;
  return {
    projectId,
    id: newId(),
    file,
    sourceHash,
    contentType: image.type,
    bytes: image.bytes.length,
    width: image.width,
    height: image.height,
    name: shownName(filename),
    isKnown: false,
  };
}

/** Checks against the stored size, so concurrent uploads may exceed the limit by their own sizes. */
function requireSpace(storedBytes: number, more: number): void {
  const { value } = LIMITS.uploadProjectBytes;
  if (storedBytes + more > value)
    throw new AppError(
      "CONFLICT",
      withValues(
        "The images of a project can use up to {most} in total. Delete some with POST /uploads/delete-unused.",
        { most: formatBytes(value) },
      ),
    );
}

async function usesOf(database: Database, projectId: string, files: readonly string[]): Promise<UseRow[]> {
  if (files.length === 0) return [];
  const most = LIMITS.uploadUsers.value;
  return listUses(database, { projectId, start: keyStart(projectId), files, most });
}

const KINDS = {
  TEMPLATE: "template",
  TEMPLATE_VERSION: "an earlier version of the template",
  CAMPAIGN: "campaign",
  LOGO: "logo of",
} as const;

function inUse(users: readonly UseRow[]): ErrorMessage {
  const named = users.map(({ type, name }) => `${KINDS[type]} “${name}”`);
  const hasFormer = users.some(({ type }) => type === "TEMPLATE_VERSION");
  const values = { users: named.join(", ") };
  return hasFormer
    ? withValues(
        "The image is used by: {users}. Remove it there first. Earlier versions are deleted when newer ones replace them, or with their template.",
        values,
      )
    : withValues("The image is used by: {users}. Remove it there first.", values);
}

async function removeFiles({ storage, log }: UploadDependencies, paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await storage
      .remove(path)
      .catch((error: unknown) =>
        log.warn({ err: error, path }, "failed to remove the file of a deleted image, sweeping later"),
      );
}

/**
 * Converts storage failures, such as a full disk, missing sharp or an unresponsive server. They are neither bugs nor the caller's fault.
 */
async function orUnavailable<T>({ log }: UploadDependencies, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    log.error({ err: error }, "image storage failed");
    throw new AppError("SERVICE_UNAVAILABLE", {
      message: "Images can't be stored or read at the moment.",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  });
}
