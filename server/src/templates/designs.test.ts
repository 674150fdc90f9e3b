// Tests blocks and their rendered body over HTTP, earlier versions of a template, and test emails.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as templateTrials from "@postloft/contract/template-trials.ts";
import * as templates from "@postloft/contract/templates.ts";
import type { Block, Design } from "@postloft/contract/design.ts";
import { designHtml, escapeAround } from "@postloft/contract/design-html.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { faultsOf, errorOf, useTestServer, type Reply } from "../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

const HOSTILE = `"><script>alert(1)</script>&`;
const blocks: Block[] = [
  { id: "1", kind: "heading", level: 1, text: `Hi {{firstName ?? "friend"}} ${HOSTILE}`, align: "left" },
  {
    id: "2",
    kind: "text",
    align: "center",
    text: {
      type: "doc",
      content: [
        {
          type: "paragraph",
          content: [
            { type: "text", text: "bold ", marks: [{ type: "bold" }] },
            {
              type: "text",
              text: HOSTILE,
              marks: [{ type: "link", attrs: { href: `https://a.example/?a=1&b=${HOSTILE}` } }],
            },
            { type: "hardBreak" },
          ],
        },
        {
          type: "bulletList",
          content: [
            {
              type: "listItem",
              content: [{ type: "paragraph", content: [{ type: "text", text: "ä 🎉 مرحبا" }] }],
            },
          ],
        },
      ],
    },
  },
  { id: "3", kind: "button", label: HOSTILE, url: `{{url ?? "https://example.com"}}`, align: "center" },
  {
    id: "4",
    kind: "columns",
    columns: [
      [
        {
          id: "5",
          kind: "image",
          url: `https://i.example/a.png?${HOSTILE}`,
          alt: HOSTILE,
          link: "",
          width: 200,
          align: "left",
        },
      ],
      [{ id: "6", kind: "html", html: "<b>as it is & stays</b>" }],
    ],
  },
  { id: "7", kind: "divider" },
  { id: "8", kind: "space", height: 24 },
];
const design: Design = {
  format: "postloft-blocks",
  version: 1,
  look: {
    background: "#f4f5f7",
    surface: "#ffffff",
    ink: "#111111",
    accent: "#ffd400",
    font: "sans",
    width: 600,
  },
  language: "en",
  preheader: "What it is about",
  blocks,
};
const html = designHtml(design);

type Template = ResponseOf<typeof templates.getTemplate>;
const key = () => server.project.byKey;
const post = <Body = ErrorEnvelope>(body: object) =>
  server.call<Body>("POST", "/templates", key(), {
    name: "News",
    subject: "Hi",
    type: "TRANSACTIONAL",
    ...body,
  });
const make = async (body: object) => (await post<Template>(body)).body;
const patch = (id: string, body: BodyOf<typeof templates.updateTemplate>) =>
  server.call(templates.updateTemplate, key(), { params: { id }, body });
const read = async (id: string) => (await server.call(templates.getTemplate, key(), { params: { id } })).body;
const versionsOf = async (id: string) =>
  (await server.call(templateTrials.listTemplateVersions, key(), { params: { id } })).body.versions;

test("text in blocks stays text in the email and variables stay variables", () => {
  expect(html).not.toContain("<script>");
  expect(html).toContain(`Hi {{firstName ?? "friend"}} &quot;&gt;&lt;script&gt;`);
  expect(html).toContain(`href="{{url ?? "https://example.com"}}"`);
  expect(html).toContain("<strong>bold </strong>");
  expect(html).toContain("ä 🎉 مرحبا");
  expect(html).toContain("<b>as it is & stays</b>");
});

test.each([
  ["{{a}}<{{{b}}}>", "{{a}}&lt;{{{b}}}&gt;"],
  ["{{ <", "{{ &lt;"],
  ["}} & {{x}}", "}} &amp; {{x}}"],
])("escapes %s around its variables", (text, escaped) => {
  expect(escapeAround(text)).toBe(escaped);
});

test("chooses a black or white button label by contrast", () => {
  expect(html).toContain("background:#ffd400;color:#000000");
  expect(designHtml({ ...design, look: { ...design.look, accent: "#1d4ed8" } })).toContain("color:#ffffff");
});

test("renders the body from the blocks of a design and returns both as they were written", async () => {
  const { id } = await make({ design });
  expect(await read(id)).toMatchObject({ body: html, design });
  const changed = { ...design, blocks: blocks.slice(0, 1) };
  expect((await patch(id, { design: changed })).status).toBe(200);
  expect(await read(id)).toMatchObject({ body: designHtml(changed), design: changed });
  expect((await patch(id, { design: changed, body: designHtml(changed) })).status).toBe(200);
});

test("drops blocks when only the body changes but keeps foreign designs and unchanged bodies", async () => {
  const { id } = await make({ design });
  await patch(id, { body: html, subject: "Other" });
  expect((await read(id)).design).toEqual(design);
  await patch(id, { body: "<p>By hand</p>" });
  expect(await read(id)).toMatchObject({ body: "<p>By hand</p>", design: null });
  const foreign = { rows: [1, 2] };
  const other = await make({ body: "<p>Hi</p>", design: foreign });
  await patch(other.id, { body: "<p>By hand</p>" });
  expect((await read(other.id)).design).toEqual(foreign);
});

test("keeps the preview text of blocks in their design and that of HTML in its own field", async () => {
  const { id } = await make({ design });
  expect(await read(id)).toMatchObject({ previewText: design.preheader });
  const { body: changed } = await patch(id, { previewText: "{{name}} & more" });
  const other = { ...design, preheader: "{{name}} & more" };
  expect(changed).toMatchObject({ previewText: "{{name}} & more", design: other, body: designHtml(other) });
  await patch(id, { previewText: null });
  expect(await read(id)).toMatchObject({ previewText: null, design: { preheader: "" } });
  await patch(id, { body: "<p>By hand</p>", previewText: "Mine" });
  expect(await read(id)).toMatchObject({ previewText: "Mine", body: "<p>By hand</p>", design: null });
  await patch(id, { subject: "Other" });
  expect(await read(id)).toMatchObject({ previewText: "Mine" });
  await patch(id, { design });
  expect(await read(id)).toMatchObject({ previewText: design.preheader, body: html });
  await patch(id, { previewText: " ", body: "<p>By hand</p>" });
  expect(await read(id)).toMatchObject({ previewText: null });
});

test("restores the preview text of an earlier version and copies it", async () => {
  const { id } = await make({ body: "<p>Hi</p>", previewText: "First" });
  await patch(id, { previewText: "Second" });
  await patch(id, { design });
  const [second, first] = await versionsOf(id);
  const restore = (versionId = "") =>
    server.call(templateTrials.restoreTemplateVersion, key(), { params: { id, versionId } });
  const version = { params: { id, versionId: second?.id ?? "" } };
  const { body } = await server.call(templateTrials.getTemplateVersion, key(), version);
  expect(body).toMatchObject({ previewText: "Second" });
  await restore(first?.id);
  expect(await read(id)).toMatchObject({ previewText: "First", body: "<p>Hi</p>", design: null });
  const copy = await server.call(templates.duplicateTemplate, key(), { params: { id } });
  expect(copy.body).toMatchObject({ previewText: "First" });
  await restore((await versionsOf(id))[0]?.id);
  expect(await read(id)).toMatchObject({ previewText: design.preheader, body: html, design });
  const [row] = await server.rows<{ previewText: string | null }>(
    'select preview_text as "previewText" from templates where id = $1',
    id,
  );
  expect(row).toEqual({ previewText: null });
});

test("rejects a preview text that differs from the design, is faulty, or is too long", async () => {
  expect(faultsOf(await post({ design, previewText: "Other" }))).toEqual(["previewText custom"]);
  expect((await post({ design, previewText: design.preheader })).status).toBe(201);
  const empty = { ...design, preheader: "" };
  expect(await make({ design: empty, previewText: "Mine" })).toMatchObject({
    previewText: "Mine",
    design: { preheader: "Mine" },
  });
  const body = "<p>Hi</p>";
  expect(faultsOf(await post({ body, previewText: "{{#if}}" }))).toEqual(["previewText custom"]);
  expect(faultsOf(await post({ body, previewText: "x".repeat(1_001) }))).toEqual(["previewText too_big"]);
});

test("accepts a body with its blocks as an earlier version stored both", async () => {
  const { id } = await make({ design });
  const body = html.replaceAll("&zwnj;&nbsp;", "");
  expect(body).not.toBe(html);
  expect((await patch(id, { design, body })).status).toBe(200);
  expect(await read(id)).toMatchObject({ body: html, design });
});

test("rejects a body that differs from its blocks and a template with neither", async () => {
  expect(faultsOf(await post({ design, body: "<p>Other</p>" }))).toEqual(["body custom"]);
  const { id } = await make({ design });
  expect(faultsOf(await patch(id, { design, body: "<p>Other</p>" }))).toEqual(["body custom"]);
  expect(faultsOf(await post({}))).toEqual(["body required"]);
  expect(faultsOf(await post({ design: { rows: [] } }))).toEqual(["body required"]);
});

test.each<[string, object, string]>([
  ["an unknown kind of block", { blocks: [{ id: "1", kind: "script" }] }, "design.blocks.0.kind custom"],
  [
    "a color that breaks out of its style",
    { look: { ...design.look, ink: "red;}" } },
    "design.look.ink custom",
  ],
  ["a language that breaks out of its attribute", { language: `en" x="` }, "design.language custom"],
  ["no blocks", { blocks: undefined }, "design.blocks custom"],
  ["too many parts", { blocks: Array.from({ length: LIMITS.designParts.value }, () => 1) }, "design custom"],
])("rejects %s and names the field", async (_case, change, fault) => {
  expect(faultsOf(await post({ design: { ...design, ...change } }))).toEqual([fault]);
});

test("rejects lists nested deeper than real emails have", async () => {
  const deep = (depth: number): object => ({
    type: "bulletList",
    content: [{ type: "listItem", content: depth === 1 ? [{ type: "paragraph" }] : [deep(depth - 1)] }],
  });
  const saved = (depth: number) =>
    post({
      design: {
        ...design,
        blocks: [{ id: "1", kind: "text", align: "left", text: { type: "doc", content: [deep(depth)] } }],
      },
    });
  expect((await saved(4)).status).toBe(201);
  expect(errorOf((await saved(5)) as Reply<ErrorEnvelope>)).toBe("422 VALIDATION_ERROR");
});

test("keeps a version when a template changes and restores it exactly", async () => {
  const { id } = await make({ design });
  expect(await versionsOf(id)).toEqual([]);
  await patch(id, { name: "Only its name", body: html });
  expect(await versionsOf(id)).toEqual([]);
  await patch(id, { body: "<p>By hand</p>", subject: "Second" });
  await patch(id, { subject: "Third" });
  const [second, first] = await versionsOf(id);
  expect(second).toMatchObject({ subject: "Second", bytes: "<p>By hand</p>".length });
  expect(first).toMatchObject({ subject: "Hi", bytes: Buffer.byteLength(html) });
  const whole = await server.call(templateTrials.getTemplateVersion, key(), {
    params: { id, versionId: first?.id ?? "" },
  });
  expect(whole.body).toMatchObject({ subject: "Hi", body: html, design });
  await server.call(templateTrials.restoreTemplateVersion, key(), {
    params: { id, versionId: first?.id ?? "" },
  });
  expect(await read(id)).toMatchObject({ name: "Only its name", subject: "Hi", body: html, design });
  expect((await versionsOf(id)).map(({ subject }) => subject)).toEqual(["Third", "Second", "Hi"]);
});

test("deletes the oldest versions beyond the limits of number and bytes", async () => {
  const { id } = await make({ body: "<p>0</p>" });
  await server.rows(
    `insert into template_versions (project_id, template_id, id, subject, body, saved_at)
     select project_id, id, uuidv7(make_interval(secs => -n)), 'old ' || n, repeat('x', $2), now() from templates, generate_series(1, $3) n where id = $1`,
    id,
    1_000,
    LIMITS.templateVersions.value,
  );
  await patch(id, { body: "<p>1</p>" });
  const kept = await versionsOf(id);
  expect(kept).toHaveLength(LIMITS.templateVersions.value);
  expect(kept.at(-1)?.subject).toBe(`old ${LIMITS.templateVersions.value - 1}`);
  await server.rows(
    "update template_versions set body = repeat('x', $2) where template_id = $1",
    id,
    LIMITS.templateVersionBytes.value / 4,
  );
  await patch(id, { body: "<p>2</p>" });
  expect(await versionsOf(id)).toHaveLength(4);
});

test("does not find a version of another template or project and changes nothing", async () => {
  const [one, two] = [await make({ body: "<p>1</p>" }), await make({ body: "<p>2</p>" })];
  await patch(one.id, { body: "<p>new</p>" });
  const [version] = await versionsOf(one.id);
  const path = (template: string) => `/templates/${template}/versions/${version?.id ?? ""}`;
  const other = await server.createProject();
  const errors = await Promise.all([
    server.call("GET", path(two.id), key()),
    server.call("POST", `${path(two.id)}/restore`, key()),
    server.call("GET", path(one.id), other.byKey),
    server.call("POST", `${path(one.id)}/restore`, other.byKey),
    server.call(templateTrials.listTemplateVersions, other.byKey, { params: { id: one.id } }),
  ]);
  expect(errors.map(errorOf)).toEqual(Array(5).fill("404 TEMPLATE_NOT_FOUND"));
  expect((await read(one.id)).body).toBe("<p>new</p>");
});

test("renders a test email for the contact of its address and counts it nowhere", async () => {
  const project = await server.createProject();
  await server.call(contacts.upsertContact, project.byKey, {
    body: {
      email: "ada@example.org",
      data: { firstName: "Ada" },
    },
  });
  const template = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: "News",
      subject: "For {{firstName}}",
      type: "MARKETING",
      body: "<p>Hi {{firstName}}</p>",
    },
  });
  const send = (body: object) =>
    server.call(`POST`, `/templates/${template.body.id}/test`, project.byKey, {
      email: "ada@example.org",
      ...body,
    });
  expect(faultsOf(await send({}))).toEqual(["from required"]);
  expect(errorOf(await send({ from: "a@unproved.example" }))).toBe("403 DOMAIN_NOT_VERIFIED");
  expect((await send({ from: "hello@sandbox.localhost" })).status).toBe(200);
  await server.rows(
    "update projects set default_from = $2 where id = $1",
    project.id,
    "The shop <shop@sandbox.localhost>",
  );
  expect((await send({ email: "me@example.org" })).status).toBe(200);
  const mails = await server.rows<{ toAddress: string; contactId: string | null; isTest: boolean }>(
    "select to_address, contact_id, is_test from emails where project_id = $1 order by id",
    project.id,
  );
  expect(mails).toEqual([
    { toAddress: "ada@example.org", contactId: null, isTest: true },
    { toAddress: "me@example.org", contactId: null, isTest: true },
  ]);
});
