// Queries on `uploads`, and on the objects that show an image by its URL: templates and their versions, campaigns, and the project's logo.
import { sql } from "kysely";
import type { ImageType, UPLOAD_USERS } from "@postloft/contract/uploads.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import type { FileName } from "./rules.ts";

export interface UploadRow extends Row<
  "uploads",
  "id" | "file" | "bytes" | "width" | "height" | "name" | "alt" | "createdAt"
> {
  contentType: ImageType;
}

export interface NewUpload extends Omit<UploadRow, "alt"> {
  projectId: string;
  sourceHash: Buffer;
}

const COLUMNS = sql`id, file, content_type, bytes, width, height, name, alt, created_at`;

export async function findUploadByHash(
  database: Database,
  projectId: string,
  hash: Buffer,
): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    select ${COLUMNS} from uploads where project_id = ${projectId} and source_hash = ${hash}`.execute(
    database,
  );
  return rows[0];
}

export async function findUpload(
  database: Database,
  { projectId, file }: FileName,
): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    select ${COLUMNS} from uploads where project_id = ${projectId} and file = ${file}`.execute(database);
  return rows[0];
}

/** Returns whether the image exists, and locks it, so that a concurrent deletion waits and then finds its use. */
export async function lockUpload(tx: Tx, { projectId, file }: FileName): Promise<boolean> {
  const { rows } = await sql`
    select 1 from uploads where project_id = ${projectId} and file = ${file} for key share`.execute(tx);
  return rows.length > 0;
}

/** Returns the number and total size of a project's images. */
export async function sumUploads(
  database: Database,
  projectId: string,
): Promise<{ images: number; bytes: number }> {
  const { rows } = await sql<{ images: number; bytes: number }>`
    select count(*)::float8 as images, coalesce(sum(bytes), 0)::float8 as bytes
    from uploads where project_id = ${projectId}`.execute(database);
  return rows[0] ?? { images: 0, bytes: 0 };
}

/** Returns the stored row, which may be an earlier one of the same image. */
export async function insertUpload(
  tx: Tx,
  upload: Omit<NewUpload, "createdAt">,
): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    insert into uploads (project_id, id, file, source_hash, content_type, bytes, width, height, name)
    values (${upload.projectId}, ${upload.id}, ${upload.file}, ${upload.sourceHash}, ${upload.contentType},
      ${upload.bytes}, ${upload.width}, ${upload.height}, ${upload.name})
    on conflict (project_id, source_hash) do update set uploaded_at = excluded.uploaded_at
    returning ${COLUMNS}`.execute(tx);
  return rows[0];
}

/** Renews the row of an image that is uploaded again. Undefined if it was deleted meanwhile. */
export async function renewUpload(tx: Tx, { projectId, file }: FileName): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    update uploads set uploaded_at = now() where project_id = ${projectId} and file = ${file}
    returning ${COLUMNS}`.execute(tx);
  return rows[0];
}

/** Returns undefined if the image does not exist. */
export async function updateAlt(
  tx: Tx,
  { projectId, file }: FileName,
  alt: string,
): Promise<UploadRow | undefined> {
  const { rows } = await sql<UploadRow>`
    update uploads set alt = ${alt} where project_id = ${projectId} and file = ${file}
    returning ${COLUMNS}`.execute(tx);
  return rows[0];
}

/** Newest first. */
export async function listUploadRows(
  database: Database,
  projectId: string,
  { limit, before }: { limit: number; before: string | null },
): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select ${COLUMNS} from uploads
    where project_id = ${projectId} ${before === null ? sql`` : sql`and id < ${before}`}
    order by project_id desc, id desc limit ${limit + 1}`.execute(database);
  return rows;
}

export interface UseRow {
  file: string;
  type: (typeof UPLOAD_USERS)[number];
  id: string;
  name: string;
}

/**
 * Selects the objects that show images of the project, or can show them again, such as template versions. Returns the first `most` per
 * file.
 * Scans all texts once, and skips those without the key prefix.
 *
 * @param start prefix of the keys of the project's images
 */
const uses = (projectId: string, start: string, most: number) => sql`
  select file, type, id, name from (
    select file, type, id, name, row_number() over (partition by file order by type, id) as place
    from (
      select distinct t.type, t.id, t.name,
        (regexp_matches(t.text, ${`${start}([0-9a-f]{32}\\.(?:png|jpg|gif|webp))`}, 'g'))[1] as file
      from (
        select 'TEMPLATE' as type, id, name, body || coalesce(design::text, '') as text from templates
          where project_id = ${projectId}
        union all
        select 'TEMPLATE', t.id, t.name, v.body || coalesce(v.design::text, '')
          from template_variants v join templates t on t.project_id = v.project_id and t.id = v.template_id
          where v.project_id = ${projectId}
        union all
        select 'TEMPLATE_VERSION', t.id, t.name, v.body || coalesce(v.design::text, '')
          from template_versions v join templates t on t.project_id = v.project_id and t.id = v.template_id
          where v.project_id = ${projectId}
        union all
        select 'CAMPAIGN', id, name, body || coalesce(design::text, '') from campaigns where project_id = ${projectId}
        union all
        select 'LOGO', id, name, logo_url from projects where id = ${projectId} and logo_url is not null
      ) t
      where position(${start} in t.text) > 0
    ) m
  ) u where place <= ${most}`;

export async function listUses(
  database: Database,
  {
    projectId,
    start,
    files,
    most,
  }: { projectId: string; start: string; files: readonly string[]; most: number },
): Promise<UseRow[]> {
  const { rows } = await sql<UseRow>`
    select * from (${uses(projectId, start, most)}) u
    where file = any(${files}::text[]) order by file, type, id`.execute(database);
  return rows;
}

/** Returns whether it existed. */
export async function deleteUploadRow(tx: Tx, { projectId, file }: FileName): Promise<boolean> {
  const result = await sql`delete from uploads where project_id = ${projectId} and file = ${file}`.execute(
    tx,
  );
  return (result.numAffectedRows ?? 0n) > 0n;
}

/** Deletes the oldest unused images that were last uploaded at least `hours` ago. */
export async function deleteUnusedRows(
  tx: Tx,
  { projectId, start, hours, most }: { projectId: string; start: string; hours: number; most: number },
): Promise<Array<{ file: string; bytes: number }>> {
  const { rows } = await sql<{ file: string; bytes: number }>`
    with used as materialized (select distinct file from (${uses(projectId, start, 1)}) u),
    unused as materialized (
      select u.file from uploads u left join used on used.file = u.file
      where u.project_id = ${projectId} and u.uploaded_at < now() - make_interval(hours => ${hours}::integer)
        and used.file is null
      order by u.id limit ${most}
    )
    delete from uploads using unused
    where uploads.project_id = ${projectId} and uploads.file = unused.file
      -- Checks the locked row again, because the image may just have been uploaded again.
      and uploads.uploaded_at < now() - make_interval(hours => ${hours}::integer)
    returning uploads.file, uploads.bytes`.execute(tx);
  return rows;
}

/** Returns the files that have a row. */
export async function findKnownFiles(
  database: Database,
  files: readonly FileName[],
): Promise<Array<{ projectId: string; file: string }>> {
  const { rows } = await sql<{ projectId: string; file: string }>`
    select u.project_id, u.file
    from unnest(${files.map(({ projectId }) => projectId)}::uuid[], ${files.map(({ file }) => file)}::text[])
      as f (project_id, file)
    join uploads u on u.project_id = f.project_id and u.file = f.file`.execute(database);
  return rows;
}

export async function hasUploads(database: Database): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select 1 from uploads) as has`.execute(database);
  return rows[0]?.has === true;
}
