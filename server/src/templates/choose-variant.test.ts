// Tests how the variants of many emails are read.
import { expect, test } from "vitest";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import { countStatements } from "../testing/count-statements.ts";
import { useTestServer } from "../testing/test-server.ts";
import { chooseVariants } from "./choose-variant.ts";
import { readTemplates, type SendableTemplate } from "./templates.ts";

const server = useTestServer({ ROLES: "api" });

async function makeTemplate(locales: readonly string[]): Promise<SendableTemplate> {
  const { byKey, id: projectId } = server.project;
  const own = { name: "Hi", type: "TRANSACTIONAL", subject: "own", body: "own" } as const;
  const { id } = (await server.call(templates.createTemplate, byKey, { body: own })).body;
  for (const locale of locales) {
    const body = { subject: locale, body: locale };
    await server.call(variants.saveTemplateVariant, byKey, { params: { id, locale }, body });
  }
  const [template] = (await readTemplates(server.database, [{ projectId, id }])).values();
  if (template === undefined) throw new Error("The template is missing.");
  return template;
}

test("reads the variants of many emails with one statement, and each only once", async () => {
  const made = [await makeTemplate(["de", "fr"]), await makeTemplate(["fr"]), await makeTemplate([])];
  const wishes = Array.from({ length: 1_000 }, (_none, n) => ({
    template: made[n % 3] ?? made[0]!,
    wish: ["de", "fr-CA", "it", undefined][n % 4],
  }));
  const { result: chosen, statements } = await countStatements(() => chooseVariants(server.database, wishes));
  expect(statements).toBe(1);
  expect(new Set(chosen).size).toBe(6);
  chosen.forEach(({ id, subject, body, locale }, n) => {
    const { template, wish } = wishes[n]!;
    const expected = template.locales.find((tag) => wish?.startsWith(tag)) ?? null;
    const text = expected ?? "own";
    expect({ id, subject, body, locale }).toEqual({
      id: template.id,
      subject: text,
      body: text,
      locale: expected,
    });
  });
  const none = [made[2]!, made[1]!].map((template) => ({ template, wish: "de" }));
  expect((await countStatements(() => chooseVariants(server.database, none))).statements).toBe(0);
});

test("keeps the template's own content if the variant was removed after the template was read", async () => {
  const template = await makeTemplate(["de"]);
  const params = { id: template.id, locale: "de" };
  await server.call(variants.deleteTemplateVariant, server.project.byKey, { params });
  expect(await chooseVariants(server.database, [{ template, wish: "de" }])).toEqual([template]);
});
