// Images: accepted and rejected uploads, response headers, lists and deletions.
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, expect, onTestFinished, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as uploads from "@postloft/contract/uploads.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { createDatabase } from "../platform/database/database.ts";
import { createTestDatabase } from "../platform/database/test-database.ts";
import { holdRow } from "../testing/hold-row.ts";
import { uploadOf } from "../testing/upload.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type Reply,
  type TestProject,
} from "../testing/test-server.ts";
import { createDiskStorage } from "./disk-storage.ts";
import { encodeImage } from "./encode-image.ts";
import { sweepFiles } from "./sweep-files.ts";
import type { Image } from "./uploads.ts";

const DATA_DIR = mkdtempSync(join(tmpdir(), "postloft-uploads-"));
const FOLDER = join(DATA_DIR, "uploads");
afterAll(() => rm(DATA_DIR, { recursive: true, force: true }));
const server = useTestServer({ DATA_DIR });

const RED = { create: { width: 40, height: 20, channels: 3, background: "red" } } as const;
const png = (background = "red") =>
  sharp({ create: { ...RED.create, background } })
    .png()
    .toBuffer();
/** All frames differ, because identical ones are merged. */
const animation = async (frames: number) => {
  const [red, blue] = [await png("red"), await png("blue")];
  return sharp(
    Array.from({ length: frames }, (_, at) => (at % 2 === 0 ? red : blue)),
    { join: { animated: true } },
  );
};

async function upload(
  { byKey }: TestProject,
  content: Buffer | string,
  filename = "logo.png",
  part = "image",
): Promise<Reply<Image & ErrorEnvelope>> {
  const { contentType, body } = uploadOf(content, { part, filename });
  const headers = { ...byKey.headers, "content-type": contentType };
  return server.call("POST", "/uploads/image", { ...byKey, headers }, body);
}

const list = async ({ byKey }: TestProject, query = "") =>
  (await server.call(uploads.listUploads, byKey, { anyQuery: query })).body;
const remove = ({ byKey }: TestProject, key: string) =>
  server.call<ErrorEnvelope>("DELETE", `/uploads/${key}`, byKey);
const setLogo = ({ id, owner }: TestProject, logoUrl: string | null) =>
  server.call("PATCH", `/users/@me/projects/${id}`, { cookie: owner.cookie }, { logoUrl });
const filesOf = async ({ id }: TestProject) =>
  readdir(join(FOLDER, id.replaceAll("-", ""))).catch(() => [] as string[]);

test("re-encodes an image upright, without metadata, and serves it with safe headers", async () => {
  const photo = await sharp(RED)
    .jpeg()
    .withExif({ IFD0: { Copyright: "secret place" } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const { status, body } = await upload(server.project, photo, "../../Ümlaut <b>.svg");
  expect(status).toBe(201);
  expect(body).toEqual({
    url: `http://localhost:${new URL(server.url).port}/images/${body.key}`,
    key: expect.stringMatching(/^[0-9a-f]{64}\.jpg$/),
    filename: "Ümlaut <b>.svg",
    contentType: "image/jpeg",
    size: expect.any(Number),
    width: 20,
    height: 40,
    alt: "",
  });
  const shown = await fetch(body.url);
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    "content-type": "image/jpeg",
    "content-length": String(body.size),
    "content-disposition": 'inline; filename="mlaut-b.jpg"',
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "public, max-age=31536000, immutable",
  });
  const bytes = Buffer.from(await shown.arrayBuffer());
  expect(bytes.includes("secret place")).toBe(false);
  expect(await sharp(bytes).metadata()).toMatchObject({ format: "jpeg", width: 20, height: 40 });
  const head = await fetch(body.url, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(body.size)]);
});

test("keeps each of the four formats, and animations animated", async () => {
  const images = { png: await png(), jpeg: await sharp(RED).jpeg().toBuffer() };
  for (const [format, bytes] of Object.entries({
    ...images,
    webp: await (await animation(3)).webp().toBuffer(),
    gif: await (await animation(3)).gif().toBuffer(),
  })) {
    const encoding = await encodeImage(bytes);
    expect(encoding).toMatchObject({ ok: true, image: { type: `image/${format}`, width: 40, height: 20 } });
    const made = encoding.ok ? await sharp(encoding.image.bytes, { animated: true }).metadata() : null;
    expect(`${format} ${made?.pages ?? 1}`).toBe(`${format} ${format in images ? 1 : 3}`);
  }
});

function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** 14,000 × 14,000 pixels in a few kilobytes, with identical rows. */
function bomb(): Buffer {
  const size = Buffer.from([0, 0, 0x36, 0xb0, 0, 0, 0x36, 0xb0, 8, 0, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const rows = deflateSync(Buffer.alloc(1_000_000));
  return Buffer.concat([signature, pngChunk("IHDR", size), pngChunk("IDAT", rows)]);
}

test("rejects invalid, damaged or oversized images with 422 and stores nothing", async () => {
  const project = await server.createProject();
  const whole = await sharp({
    create: { ...RED.create, width: 400, height: 400, noise: { type: "gaussian" } },
  })
    .png()
    .toBuffer();
  const faulty: Record<string, Buffer> = {
    SVG: Buffer.from(
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    ),
    HTML: Buffer.from("<!doctype html><script>alert(1)</script>"),
    PDF: Buffer.from("%PDF-1.7\n"),
    TIFF: await sharp(RED).tiff().toBuffer(),
    AVIF: await sharp(RED).avif().toBuffer(),
    nothing: Buffer.alloc(0),
    "the beginning of a PNG": whole.subarray(0, 8),
    "half a PNG": whole.subarray(0, whole.length / 2),
    bomb: bomb(),
    "many frames": await (await animation(LIMITS.uploadFrames.value + 1)).gif().toBuffer(),
    "more bytes than allowed": Buffer.concat([whole, Buffer.alloc(LIMITS.uploadFileBytes.value)]),
  };
  const input = Object.entries(faulty);
  const responses = await responsesByName(
    input,
    ([name]) => name,
    async ([, bytes]) => {
      const reply = await upload(project, bytes);
      return `${errorOf(reply)} ${faultsOf(reply).join()}`;
    },
  );
  expect(responses).toEqual({
    ...sameByName(
      input,
      ([name]) => name,
      () => "422 VALIDATION_ERROR image custom",
    ),
    "more bytes than allowed": "422 VALIDATION_ERROR image too_big",
  });
  expect(faultsOf(await upload(project, await png(), "a.png", "file"))).toEqual(["image required"]);
  expect(errorOf(await upload(project, Buffer.alloc(LIMITS.uploadBodyBytes.value)))).toMatch(/^413 /);
  expect([await filesOf(project), (await list(project)).data]).toEqual([[], []]);
});

test("rejects a size before reading pixels, and has no decoders for other formats", async () => {
  expect(await encodeImage(bomb())).toEqual({
    ok: false,
    problem: expect.objectContaining({ message: expect.stringContaining("pixels") }),
  });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  for (const bytes of [svg, await sharp(RED).tiff().toBuffer(), await sharp(RED).avif().toBuffer()])
    await expect(sharp(bytes).metadata()).rejects.toThrow("unsupported image format");
});

test("removes the HTML of an image that is also a web page", async () => {
  const polyglot = Buffer.concat([await png("blue"), Buffer.from("<script>alert(1)</script>")]);
  const { body } = await upload(server.project, polyglot, "page.html");
  const shown = await fetch(body.url);
  expect(shown.headers.get("content-type")).toBe("image/png");
  expect(Buffer.from(await shown.arrayBuffer()).includes("script")).toBe(false);
});

test("stores an image once per project and restores a lost file", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const bytes = await png("green");
  const replies = await Promise.all([upload(project, bytes), upload(project, bytes, "again.png")]);
  const [first] = replies.map(({ body }) => body);
  expect(new Set(replies.map(({ body }) => body.url))).toHaveLength(1);
  expect(await filesOf(project)).toHaveLength(1);
  expect((await upload(other, bytes)).body.url).not.toBe(first?.url);
  await rm(join(FOLDER, project.id.replaceAll("-", "")), { recursive: true });
  expect((await fetch(first?.url ?? "")).status).toBe(404);
  expect((await upload(project, bytes)).body).toEqual(first);
  expect((await fetch(first?.url ?? "")).status).toBe(200);
});

const html = ({ url }: Image) => `<p><img src="${url}" alt=""><img src='${url}'></p>`;

test("keeps an image that only a language of a template shows", async () => {
  const project = await server.createProject();
  const image = (await upload(project, await png("#555555"))).body;
  const body = { name: "Hello", subject: "s", body: "b", type: "TRANSACTIONAL" } as const;
  const { id } = (await server.call(templates.createTemplate, project.byKey, { body })).body;
  const params = { id, locale: "de" };
  const german = { subject: "s", body: html(image) };
  await server.call(variants.saveTemplateVariant, project.byKey, { params, body: german });
  expect((await list(project)).data[0]?.usedBy).toEqual([{ type: "TEMPLATE", id, name: "Hello" }]);
  expect(errorOf(await remove(project, image.key))).toBe("409 CONFLICT");
});

test("lists the users of an image, which cannot be deleted while it is used", async () => {
  const project = await server.createProject();
  const [inTemplate, inCampaign, asLogo, unused] = await Promise.all(
    ["#111111", "#222222", "#333333", "#444444"].map(
      async (colour) => (await upload(project, await png(colour))).body,
    ),
  );
  if (!inTemplate || !inCampaign || !asLogo || !unused) throw new Error("Four images were uploaded.");
  const template = { name: "Hello", subject: "s", body: html(inTemplate), type: "TRANSACTIONAL" };
  const campaign = {
    name: "News",
    subject: "s",
    body: html(inCampaign),
    from: "a@sandbox.localhost",
    audienceType: "ALL",
  };
  const { body: made } = await server.call(templates.createTemplate, project.byKey, { anyBody: template });
  expect((await server.call(campaigns.createCampaign, project.byKey, { anyBody: campaign })).status).toBe(
    201,
  );
  expect((await setLogo(project, asLogo.url)).status).toBe(200);
  const { data, storedBytes } = await list(project);
  expect(
    Object.fromEntries(
      data.map(({ key, usedBy }) => [key, usedBy.map(({ type, name }) => `${type} ${name}`)]),
    ),
  ).toEqual({
    [inTemplate.key]: ["TEMPLATE Hello"],
    [inCampaign.key]: ["CAMPAIGN News"],
    [asLogo.key]: ["LOGO A project"],
    [unused.key]: [],
  });
  expect(storedBytes).toBe(data.reduce((sum, { size }) => sum + size, 0));
  const refused = await remove(project, inTemplate.key);
  expect(`${errorOf(refused)} ${refused.body.error.message}`).toBe(
    "409 CONFLICT The image is used by: template “Hello”. Remove it there first.",
  );
  for (const { key } of [inCampaign, asLogo])
    expect(errorOf(await remove(project, key))).toBe("409 CONFLICT");
  expect((await fetch(inTemplate.url)).status).toBe(200);
  const page = await list(project, "?limit=3");
  expect([page.data.length, page.hasMore]).toEqual([3, true]);
  expect((await list(project, `?limit=3&cursor=${page.cursor}`)).data).toHaveLength(1);

  const deleteUnused = async () => (await server.call(uploads.deleteUnusedUploads, project.byKey)).body;
  expect(await deleteUnused()).toEqual({ deleted: 0, freedBytes: 0, hasMore: false });
  await server.rows(
    "update uploads set uploaded_at = now() - interval '25 hours' where project_id = $1",
    project.id,
  );
  expect(await deleteUnused()).toEqual({ deleted: 1, freedBytes: unused.size, hasMore: false });
  expect((await fetch(unused.url)).status).toBe(404);
  expect(await filesOf(project)).toHaveLength(3);
  await server.call("DELETE", `/templates/${made.id}`, project.byKey);
  expect((await remove(project, inTemplate.key)).status).toBe(204);
  expect([(await fetch(inTemplate.url)).status, errorOf(await remove(project, inTemplate.key))]).toEqual([
    404,
    "404 UPLOAD_NOT_FOUND",
  ]);
});

test("a project's logo is an image of the project that exists, or an https image elsewhere", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { body: image } = await upload(project, await png("#0a0a0a"));
  const { body: foreign } = await upload(other, await png("#0b0b0b"));
  expect((await setLogo(project, image.url)).body).toMatchObject({ logoUrl: image.url });
  expect(faultsOf(await setLogo(project, foreign.url))).toEqual(["logoUrl invalid_string"]);
  expect((await setLogo(project, "https://shop.example/logo.png")).status).toBe(200);
  expect((await remove(project, image.key)).status).toBe(204);
  expect(faultsOf(await setLogo(project, image.url))).toEqual(["logoUrl custom"]);
});

test("an image that is being deleted does not become the logo", async () => {
  const project = await server.createProject();
  const { body: image } = await upload(project, await png("#0c0c0c"));
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from uploads where project_id = $1", project.id],
    () => [setLogo(project, image.url)],
    (client) => client.query("delete from uploads where project_id = $1", [project.id]),
  );
  expect(reply === undefined ? [] : faultsOf(reply)).toEqual(["logoUrl custom"]);
});

test("changes the alt text of an image, and finds no image of another project", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { body: image } = await upload(project, await png("#0d0d0d"));
  const change = ({ byKey }: TestProject, alt: string) =>
    server.call<Image & ErrorEnvelope>("PATCH", `/uploads/${image.key}`, byKey, { alt });
  expect((await change(project, "  A red field ")).body).toMatchObject({
    key: image.key,
    alt: "A red field",
  });
  expect((await list(project)).data[0]).toMatchObject({ alt: "A red field", width: 40, height: 20 });
  expect(errorOf(await change(other, "Mine"))).toBe("404 UPLOAD_NOT_FOUND");
  expect(faultsOf(await change(project, "a".repeat(1_001)))).toEqual(["alt too_big"]);
  expect(faultsOf(await change(project, "a\u0007"))).toEqual(["alt invalid_string"]);
  expect((await upload(project, await png("#0d0d0d"))).body).toMatchObject({ alt: "A red field" });
});

test("counts an image of an earlier template version as used while the version is kept", async () => {
  const project = await server.createProject();
  const { body: image } = await upload(project, await png("#555555"));
  const template = { name: "Hello", subject: "s", body: html(image), type: "TRANSACTIONAL" };
  const { body: made } = await server.call(templates.createTemplate, project.byKey, { anyBody: template });
  for (const body of [`${html(image)} again`, "<p>No image</p>"])
    await server.call("PATCH", `/templates/${made.id}`, project.byKey, { body });
  await server.rows("update uploads set uploaded_at = now() - interval '25 hours'");
  const [listed] = (await list(project)).data;
  expect(listed?.usedBy).toEqual([{ type: "TEMPLATE_VERSION", id: made.id, name: "Hello" }]);
  const deleted = await server.call(uploads.deleteUnusedUploads, project.byKey);
  expect(deleted.body).toMatchObject({ deleted: 0 });
  const refused = await remove(project, image.key);
  expect(`${errorOf(refused)} ${refused.body.error.message}`).toMatch(
    /^409 CONFLICT The image is used by: an earlier version of the template “Hello”\./,
  );
  await server.call("DELETE", `/templates/${made.id}`, project.byKey);
  expect((await remove(project, image.key)).status).toBe(204);
});

test("treats an image as new for the deletion of unused ones when it is uploaded again", async () => {
  const project = await server.createProject();
  const bytes = await png("#666666");
  const { body: image } = await upload(project, bytes);
  await server.rows(
    "update uploads set created_at = now() - interval '25 hours', uploaded_at = now() - interval '25 hours'",
  );
  const { createdAt } = (await list(project)).data[0] ?? {};
  expect((await upload(project, bytes)).body).toEqual(image);
  const deleteUnused = () => server.call(uploads.deleteUnusedUploads, project.byKey);
  expect((await deleteUnused()).body).toMatchObject({ deleted: 0 });
  expect((await list(project)).data[0]?.createdAt).toBe(createdAt);
  // Also if it is uploaded again while the deletion waits for its row.
  await server.rows("update uploads set uploaded_at = now() - interval '25 hours'");
  const row = ["select 1 from uploads where project_id = $1", project.id] as const;
  const [reply] = await holdRow(
    server.pool,
    row,
    () => [deleteUnused()],
    (client) => client.query("update uploads set uploaded_at = now() where project_id = $1", [project.id]),
  );
  expect(reply?.body).toMatchObject({ deleted: 0 });
});

test("leaves no row without a file when an image is deleted and uploaded concurrently", async () => {
  const project = await server.createProject();
  const bytes = await png("#777777");
  const { body: image } = await upload(project, bytes);
  const row = ["select 1 from uploads where project_id = $1", project.id] as const;
  const [reply] = await holdRow(
    server.pool,
    row,
    () => [upload(project, bytes)],
    (client) => client.query("delete from uploads where project_id = $1", [project.id]),
  );
  await rm(join(FOLDER, project.id.replaceAll("-", "")), { recursive: true });
  expect(reply === undefined ? "" : errorOf(reply)).toBe("409 CONFLICT");
  const again = (await upload(project, bytes)).body;
  expect([again.url === image.url, (await fetch(again.url)).status]).toEqual([false, 200]);
});

test("returns the same 404 for foreign images and invalid keys, and allows no path traversal", async () => {
  const other = await server.createProject();
  const { body } = await upload(other, await png());
  await writeFile(join(DATA_DIR, "secret.png"), "secret");
  for (const key of [body.key, `${"0".repeat(64)}.png`, "..%2F..%2Fsecret.png", body.key.toUpperCase()])
    expect(errorOf(await remove(server.project, key))).toBe("404 UPLOAD_NOT_FOUND");
  const { pathname } = new URL(body.url);
  for (const path of [
    "/images/..%2F..%2Fsecret.png",
    "/images/%2e%2e/%2e%2e/secret.png",
    `${pathname}/../secret.png`,
    pathname.replace(".png", ".svg"),
    "/images/",
    "/images",
    `/images/${other.id}`,
  ])
    expect((await server.call("GET", path)).status).toBe(404);
  expect((await fetch(body.url)).status).toBe(200);
});

test("limits the total size of a project's images", async () => {
  const project = await server.createProject();
  const { body } = await upload(project, await png());
  await server.rows(
    "update uploads set bytes = $2 where project_id = $1",
    project.id,
    LIMITS.uploadProjectBytes.value,
  );
  const reply = await upload(project, await png("yellow"));
  expect(errorOf(reply)).toBe("409 CONFLICT");
  expect((await upload(project, await png())).body.url).toBe(body.url);
});

test("responds with 503 and stores no row when the disk fails", async () => {
  const project = await server.createProject();
  await mkdir(FOLDER, { recursive: true });
  // At the path of the project's folder.
  await writeFile(join(FOLDER, project.id.replaceAll("-", "")), "");
  expect(errorOf(await upload(project, await png()))).toBe("503 SERVICE_UNAVAILABLE");
  expect((await list(project)).data).toEqual([]);
});

test("sweeps only old files without a row", async () => {
  const project = await server.createProject();
  const { body } = await upload(project, await png());
  const folder = join(FOLDER, project.id.replaceAll("-", ""));
  const old = new Date(Date.now() - 2 * 3_600_000);
  const [kept = ""] = await filesOf(project);
  const orphan = `${"a".repeat(32)}.png`;
  const unfinished = `${"b".repeat(32)}.png.part`;
  const young = `${"c".repeat(32)}.png`;
  for (const name of [orphan, unfinished, young, "notes.txt"]) await writeFile(join(folder, name), "x");
  for (const name of [kept, orphan, unfinished, "notes.txt"]) await utimes(join(folder, name), old, old);
  const parts = { database: server.database, storage: createDiskStorage(dirname(folder)) };
  const empty = await createTestDatabase();
  onTestFinished(() => empty.drop());
  // These may be the files of another database.
  expect(await sweepFiles({ ...parts, database: createDatabase(empty.pool) })).toBe(0);
  expect(await sweepFiles(parts)).toBe(2);
  expect((await filesOf(project)).toSorted()).toEqual([kept, young, "notes.txt"].toSorted());
  expect((await fetch(body.url)).status).toBe(200);
});
