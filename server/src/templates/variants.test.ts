// Tests the languages of templates over HTTP: what is stored, kept as versions, copied and rejected.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import * as trials from "@postloft/contract/template-trials.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import { errorOf, faultsOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

// No sender runs here, so that emails keep their state.
const server = useTestServer({ ROLES: "api" });

const GERMAN = { subject: "Hallo {{email}}", body: "<p>Hallo</p>" };

async function createTemplate(type: "TRANSACTIONAL" | "MARKETING" = "TRANSACTIONAL"): Promise<string> {
  const body = { name: "Welcome", subject: "Hi", body: "<p>Hi</p>", type };
  return (await server.call(templates.createTemplate, server.project.byKey, { body })).body.id;
}

const save = (id: string, locale: string, body: object = GERMAN, caller: TestCaller = server.project.byKey) =>
  server.call(variants.saveTemplateVariant, caller, { params: { id, locale }, anyBody: body });
const read = (id: string, locale: string, caller: TestCaller = server.project.byKey) =>
  server.call(variants.getTemplateVariant, caller, { params: { id, locale } });
const remove = (id: string, locale: string, caller: TestCaller = server.project.byKey) =>
  server.call(variants.deleteTemplateVariant, caller, { params: { id, locale } });
const getTemplate = async (id: string) =>
  (await server.call(templates.getTemplate, server.project.byKey, { params: { id } })).body;
const listVersions = async (id: string) =>
  (await server.call(trials.listTemplateVersions, server.project.byKey, { params: { id } })).body.versions;

test("stores a language in canonical form, and lists it with the template", async () => {
  const id = await createTemplate();
  expect((await getTemplate(id)).locales).toEqual([]);
  const saved = await save(id, "PT_br");
  expect(saved).toMatchObject({
    status: 200,
    body: { ...GERMAN, locale: "pt-BR", design: null, warnings: [] },
  });
  expect((await save(id, "de")).status).toBe(200);
  expect((await read(id, "pt_BR")).body).toMatchObject({ ...GERMAN, locale: "pt-BR" });
  expect(await getTemplate(id)).toMatchObject({ subject: "Hi", locales: ["de", "pt-BR"] });
  const { body } = await server.call(templates.listTemplates, server.project.byKey);
  expect(body.data.find((one) => one.id === id)).toMatchObject({ locales: ["de", "pt-BR"] });
});

test("replaces the whole content of a language, and keeps the replaced one as a version", async () => {
  const id = await createTemplate();
  await save(id, "de", { ...GERMAN, design: { editor: "ours" } });
  const second = await save(id, "de", { subject: "Moin", body: "<p>Moin</p>" });
  expect(second.body).toMatchObject({ subject: "Moin", design: null });
  const [version] = await listVersions(id);
  expect(await listVersions(id)).toMatchObject([{ locale: "de", subject: GERMAN.subject }]);
  const params = { id, versionId: version?.id ?? "" };
  const restored = await server.call(trials.restoreTemplateVersion, server.project.byKey, { params });
  expect(restored.body).toMatchObject({ id, subject: "Hi", locales: ["de"] });
  expect((await read(id, "de")).body).toMatchObject({ ...GERMAN, design: { editor: "ours" } });
  expect((await listVersions(id)).map(({ subject }) => subject)).toEqual(["Moin", GERMAN.subject]);
});

test("keeps the preview text of each language, also in versions and copies", async () => {
  const id = await createTemplate();
  const written = { ...GERMAN, previewText: "Für {{email}}" };
  expect((await save(id, "de", written)).body).toMatchObject(written);
  expect((await save(id, "de", { ...GERMAN, previewText: " " })).body.previewText).toBeNull();
  expect((await save(id, "de", written)).body).toMatchObject(written);
  expect(await listVersions(id)).toHaveLength(2);
  const copy = await server.call(templates.duplicateTemplate, server.project.byKey, { params: { id } });
  expect((await read(copy.body.id, "de")).body).toMatchObject(written);
  await remove(id, "de");
  const [version] = await listVersions(id);
  const params = { id, versionId: version?.id ?? "" };
  await server.call(trials.restoreTemplateVersion, server.project.byKey, { params });
  expect((await read(id, "de")).body).toMatchObject(written);
  expect((await getTemplate(id)).previewText).toBeNull();
  expect(faultsOf(await save(id, "de", { ...GERMAN, previewText: "{{#if a}}" }))).toEqual([
    "previewText custom",
  ]);
});

test("removes a language, and restores it from its last version", async () => {
  const id = await createTemplate();
  await save(id, "de");
  expect((await remove(id, "DE")).status).toBe(204);
  expect(errorOf(await remove(id, "de"))).toBe("404 TEMPLATE_NOT_FOUND");
  expect(errorOf(await read(id, "de"))).toBe("404 TEMPLATE_NOT_FOUND");
  expect((await getTemplate(id)).locales).toEqual([]);
  const [version] = await listVersions(id);
  const params = { id, versionId: version?.id ?? "" };
  expect((await server.call(trials.restoreTemplateVersion, server.project.byKey, { params })).status).toBe(
    200,
  );
  expect((await read(id, "de")).body).toMatchObject(GERMAN);
});

test("keeps the versions of each language apart, and limits those of removed languages together", async () => {
  const id = await createTemplate();
  const most = LIMITS.templateVersions.value;
  for (const subject of ["First", "Second"])
    await server.call(templates.updateTemplate, server.project.byKey, { params: { id }, body: { subject } });
  await save(id, "fr");
  for (let n = 0; n < most + 3; n++) {
    await save(id, "de", { ...GERMAN, subject: `Nummer ${n}` });
    if (n < 2) await save(id, "fr", { ...GERMAN, subject: `Numéro ${n}` });
  }
  const counted = async () => {
    const versions = await listVersions(id);
    const countOf = (locale: string | null) => versions.filter((one) => one.locale === locale).length;
    return { own: countOf(null), de: countOf("de"), fr: countOf("fr") };
  };
  expect(await counted()).toEqual({ own: 2, de: most, fr: 2 });
  await remove(id, "de");
  await remove(id, "fr");
  await server.call(templates.updateTemplate, server.project.byKey, {
    params: { id },
    body: { subject: "Third" },
  });
  const { own, de, fr } = await counted();
  expect({ own, removed: de + fr }).toEqual({ own: 3, removed: most });
});

test("copies all languages with a template", async () => {
  const id = await createTemplate();
  await save(id, "de");
  const french = { subject: "Salut", body: "<p>Salut</p>", design: { editor: "ours" } };
  await save(id, "fr", french);
  const copy = await server.call(templates.duplicateTemplate, server.project.byKey, { params: { id } });
  expect(copy.body.locales).toEqual(["de", "fr"]);
  await remove(id, "fr");
  expect((await read(copy.body.id, "fr")).body).toMatchObject(french);
});

test("deletes the languages with their template", async () => {
  const id = await createTemplate();
  await save(id, "de");
  await server.call(templates.deleteTemplate, server.project.byKey, { params: { id } });
  expect(await server.rows("select 1 from template_variants where template_id = $1", id)).toEqual([]);
});

test("rejects a malformed tag and faults in the texts, with the field and its position", async () => {
  const id = await createTemplate();
  for (const locale of ["german", "de-", "x", "de%2Fat", "%00", "und"]) {
    expect(faultsOf(await save(id, locale))).toEqual(["locale invalid_string"]);
    expect(faultsOf(await read(id, locale))).toEqual(["locale invalid_string"]);
    expect(faultsOf(await remove(id, locale))).toEqual(["locale invalid_string"]);
  }
  expect(faultsOf(await save(id, "de", { subject: "Hallo" }))).toEqual(["body required"]);
  const broken = await save(id, "de", { subject: "Hallo", body: "<p>\n{{#if}}</p>" });
  expect(faultsOf(broken)).toEqual(["body custom"]);
  expect(JSON.stringify(broken.body)).toContain("Line 2");
  expect((await getTemplate(id)).locales).toEqual([]);
});

test("warns about variables of a language that no contact has", async () => {
  const id = await createTemplate();
  const { body } = await save(id, "de", { subject: "Hallo {{vornahme}}", body: "<p>Hi</p>" });
  expect(body.warnings).toMatchObject([{ where: { field: "subject" } }]);
});

test("rejects a change that is based on an outdated read", async () => {
  const id = await createTemplate();
  const { updatedAt } = (await save(id, "de")).body;
  await save(id, "de", { subject: "Moin", body: "<p>Moin</p>" });
  expect(errorOf(await save(id, "de", { ...GERMAN, expectedUpdatedAt: updatedAt }))).toBe(
    "409 CHANGED_MEANWHILE",
  );
  const current = (await read(id, "de")).body.updatedAt;
  await remove(id, "de");
  expect(errorOf(await save(id, "de", { ...GERMAN, expectedUpdatedAt: current }))).toBe(
    "409 CHANGED_MEANWHILE",
  );
  expect((await getTemplate(id)).locales).toEqual([]);
});

test("limits the languages of a template, also when many are added at once", async () => {
  const id = await createTemplate();
  const most = LIMITS.templateVariants.value;
  await server.rows(
    `insert into template_variants (project_id, template_id, locale, subject, body)
     select $1, $2, 'de-' || chr(65 + n / 26) || chr(65 + n % 26), 's', 'b' from generate_series(0, $3::integer - 2) n`,
    server.project.id,
    id,
    most,
  );
  const replies = await Promise.all(["fr", "es", "it"].map((locale) => save(id, locale)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 422, 422]);
  expect((await getTemplate(id)).locales).toHaveLength(most);
  expect((await save(id, "de-AA")).status).toBe(200);
});

test("checks each language with the footer before a template becomes marketing", async () => {
  const id = await createTemplate();
  // As many variables as allowed, and the footer needs more.
  const body = "{{a}}".repeat(1_500);
  expect((await save(id, "de", { subject: "Hallo", body })).status).toBe(200);
  const change = { params: { id }, body: { type: "MARKETING" } } as const;
  const reply = await server.call(templates.updateTemplate, server.project.byKey, change);
  expect(faultsOf(reply)).toEqual(["variants.de.body custom"]);
  expect((await getTemplate(id)).type).toBe("TRANSACTIONAL");
  const marketing = await createTemplate("MARKETING");
  expect(faultsOf(await save(marketing, "de", { subject: "Hallo", body }))).toEqual(["body custom"]);
});

test("keeps the languages of other projects unknown", async () => {
  const other = await server.createProject();
  const id = await createTemplate();
  await save(id, "de");
  for (const foreign of [id, randomUUID(), "no-id"]) {
    expect(errorOf(await read(foreign, "de", other.byKey))).toBe("404 TEMPLATE_NOT_FOUND");
    expect(errorOf(await save(foreign, "de", GERMAN, other.byKey))).toBe("404 TEMPLATE_NOT_FOUND");
    expect(errorOf(await remove(foreign, "de", other.byKey))).toBe("404 TEMPLATE_NOT_FOUND");
  }
  expect((await read(id, "de")).body).toMatchObject(GERMAN);
});
