// What texts of steps become with the variables of an execution, as tables.
import { expect, test } from "vitest";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";
import { createSealer } from "../../platform/crypto.ts";
import { createFiller, withoutMustaches } from "../../rendering/fill-text.ts";
import { APP_SECRET } from "../../testing/test-server.ts";
import { createWebhookVault, maskUrl } from "../../webhooks/webhook-vault.ts";
import { variablesOf } from "./execution-variables.ts";
import { fillFilter } from "./fill-filter.ts";
import { fillUrl, fillWebhook } from "./fill-webhook.ts";

const projectId = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";
const vault = createWebhookVault(createSealer(APP_SECRET));
const contact = {
  email: "ada@example.com",
  subscribed: true,
  data: { name: "Ada", city: "Łódź", plan: "pro", tags: ["a", "b"], locale: "pl" },
};
const execution = {
  contactId: "c-1",
  context: {
    name: "Event",
    plan: "",
    empty: "",
    nothing: null,
    score: 7,
    path: "a/b?c#d&e=f g",
    up: "..",
    lines: "one\r\nX-Other: two",
    list: [1, 2],
    object: { deep: { value: false } },
    many: Array.from({ length: 40 }, (_, at) => at),
    coupon: "sale",
  },
  results: { ask: { status: 200, body: { code: "c 1" } }, "two words": { ok: true } },
};
const filler = (knownFields: string[] = []) =>
  createFiller(() => variablesOf(execution, contact, knownFields));

test.each<[string, unknown]>([
  ["{{event.score}}", 7],
  ["{{event.list}}", [1, 2]],
  ["{{event.object}}", { deep: { value: false } }],
  ["{{event.object.deep.value}}", false],
  ["{{event.nothing}}", null],
  ["{{event.missing}}", undefined],
  ["{{event.missing ?? event.score}}", 7],
  [" {{event.score}}", " 7"],
  ["{{event.score}}{{event.score}}", "77"],
  ["{{name}} {{event.name}}", "Ada Event"],
  ["{{data.name}} {{contact.data.name}} {{contact.email}} {{contact.id}}", "Ada Ada ada@example.com c-1"],
  ["{{email}} {{subscribed}} {{locale}}", "ada@example.com true pl"],
  ["{{plan}}", "pro"],
  ['{{empty ?? "there"}} {{nothing ?? "there"}}', "there there"],
  ['{{event.empty ?? "there"}}', ""],
  ["{{data.score}}", undefined],
  ["{{score}}", 7],
  ["{{nickname ?? friend}}", "friend"],
  ["{{workflow.score}} {{steps.ask.body.code}} {{steps.[two words].ok}}", "7 c 1 true"],
  ['{{#if (eq plan "pro")}}yes{{else}}no{{/if}}', "yes"],
  ["{{#each event.list}}{{this}};{{/each}}{{#tags}}{{this}}{{/tags}}", "1;2;ab"],
  ["\\{{name}}", "{{name}}"],
  ["no variable", "no variable"],
])("fills %s with %j", (source, expected) => {
  expect(filler().value(source)).toEqual(expected);
});

test("leaves missing values out of objects, and fills no names of keys", () => {
  const written = {
    "{{name}}": "{{event.missing}}",
    a: ["{{event.missing}}", { b: "{{event.score}}" }],
    c: 1,
  };
  expect(filler().json(written)).toEqual({ a: [undefined, { b: 7 }], c: 1 });
});

test("reads the word after ?? as a field if the project has one", () => {
  expect(filler(["friend"]).value("{{nickname ?? friend}}")).toBeUndefined();
});

const loop = (depth: number): string =>
  depth === 0 ? "x" : `{{#each @root.event.many}}${loop(depth - 1)}{{/each}}`;

const sections = (depth: number) =>
  "{{#@root.event.many}}".repeat(depth) + "x" + "{{/@root.event.many}}".repeat(depth);

test.each([
  ["a loop in a loop in a loop", loop(6), "The loops of the step have more than 1000 rounds."],
  ["sections in a section", sections(3), "The loops of the step have more than 1000 rounds."],
  ["a large loop", `{{#each event.many}}${"x".repeat(50_000)}{{/each}}`, "more than 256000 characters"],
  ["text that is no template", "{{#if name}}", "This block is never closed."],
])("ends %s with an error in words", (_what, source, reason) => {
  expect(() => filler().text(source)).toThrow(reason);
});

test("counts the size of all texts of a step together", () => {
  const one = createFiller(() => ({ text: "x".repeat(100_000) }));
  expect(() => one.json(["{{text}}", "{{text}}"])).not.toThrow();
  expect(() => one.json({ a: "{{text}}" })).toThrow("more than 256000 characters");
});

const HOOK = "https://hook.example/";
test.each([
  [`${HOOK}{{name}}/x?a={{city}}`, `${HOOK}Ada/x?a=%C5%81%C3%B3d%C5%BA`],
  [`${HOOK}{{event.path}}`, `${HOOK}a%2Fb%3Fc%23d%26e%3Df%20g`],
  [`${HOOK}?q={{event.path}}&b={{event.missing}}#{{name}}`, `${HOOK}?q=a%2Fb%3Fc%23d%26e%3Df%20g&b=#Ada`],
  [`${HOOK}{{event.score}}{{event.up}}`, `${HOOK}7..`],
  [`${HOOK}{{#if plan}}p/{{plan}}{{/if}}`, `${HOOK}p/pro`],
  [`${HOOK}{{{event.path}}}?{{event.list}}`, `${HOOK}a%2Fb%3Fc%23d%26e%3Df%20g?1%2C2`],
  ["https://hook.example?u={{email}}", "https://hook.example?u=ada%40example.com"],
])("encodes the values of %s", (written, expected) => {
  expect(fillUrl(written, filler())).toBe(expected);
});

test.each([
  [`${HOOK}users/{{event.missing}}`, "A variable in the path of the URL has no value."],
  [`${HOOK}users/{{event.empty}}/orders`, "A variable in the path of the URL has no value."],
  [`${HOOK}users/{{event.up}}/admin`, 'A part of the path can\'t be "." or "..".'],
  [`${HOOK}users/.{{event.dot ?? "."}}`, 'A part of the path can\'t be "." or "..".'],
  [`${HOOK}{{event.object}}`, "A variable in the URL is an object. Use one of its values."],
  ["https://{{event.path}}/", "A variable can't be part of the host."],
  ["{{event.path}}", "A variable can't be part of the host."],
  [`${HOOK}${"{{event.path}}".repeat(90)}`, "With its variables, the URL is too long."],
])("rejects %s with the reason", (written, reason) => {
  expect(() => fillUrl(written, filler())).toThrow(reason);
});

test("keeps masks and encryption of credentials, also beside variables", () => {
  const url = `${HOOK}{{name ?? "a?b"}}?q={{#if (eq plan "pro")}}1{{/if}}&token=abc-{{event.score}}&x={{plan}}`;
  const sealed = vault.sealUrl(projectId, url);
  expect(sealed).not.toContain("abc-");
  expect(maskUrl(sealed)).toBe(url.replace("abc-{{event.score}}", "••••"));
  expect(vault.openUrl(projectId, sealed)).toBe(url);
  const headers = vault.seal(projectId, { Authorization: "Bearer {{event.coupon}}", "X-Fixed": "fixed" });
  const filled = fillWebhook({ url: sealed, headers, body: { a: "{{event.score}}" } }, filler(), {
    projectId,
    vault,
  });
  expect(JSON.stringify(filled)).not.toMatch(/abc-|Bearer|sale/);
  expect(filled.headers["X-Fixed"]).toBe(headers["X-Fixed"]);
  expect(vault.openUrl(projectId, filled.url)).toBe(`${HOOK}Ada?q=1&token=abc-7&x=pro`);
  expect(vault.open(projectId, { ...filled.headers })).toEqual({
    Authorization: "Bearer sale",
    "X-Fixed": "fixed",
  });
  expect(filled.body).toBe('{"a":7}');
});

test.each([
  ["a line break", "{{event.lines}}"],
  ["a character beyond ISO 8859-1", "{{city}}"],
])("rejects a header with %s instead of sending it", (_what, value) => {
  const config = { url: HOOK, headers: vault.seal(projectId, { "X-Name": value }) };
  expect(() => fillWebhook(config, filler(), { projectId, vault })).toThrow(
    "The header X-Name can't be sent. Must not contain line breaks",
  );
});

const all = (...conditions: FilterCondition[]): Filter => ({ operator: "AND", conditions });
test.each<[FilterCondition, FilterCondition]>([
  [
    { field: "data.cart", operator: "equals", value: "{{event.score}}" },
    { field: "data.cart", operator: "equals", value: 7 },
  ],
  [
    { field: "data.cart", operator: "contains", value: "{{name}}-{{event.score}}" },
    { field: "data.cart", operator: "contains", value: "Ada-7" },
  ],
  [
    { field: "data.cart", operator: "in", value: ["x", "{{event.list}}", "{{event.missing}}"] },
    { field: "data.cart", operator: "in", value: ["x", 1, 2] },
  ],
  [
    { field: "data.cart", operator: "in", value: "{{event.list}}" },
    { field: "data.cart", operator: "in", value: [1, 2] },
  ],
  [
    { field: "data.cart", operator: "greaterThan", value: "{{event.score}}" },
    { field: "data.cart", operator: "greaterThan", value: 7 },
  ],
  [
    { field: "data.cart", operator: "equals", value: "{{event.missing}}" },
    { field: "data.cart", operator: "in", value: [] },
  ],
  [
    { field: "data.cart", operator: "notEquals", value: "{{event.empty}}" },
    { field: "data.cart", operator: "notIn", value: [] },
  ],
])("fills the condition %j", (written, expected) => {
  expect(fillFilter(all(written), filler())).toEqual(all(expected));
});

test.each<[FilterCondition, string]>([
  [
    { field: "data.cart", operator: "greaterThan", value: "{{name}}" },
    "The value of “data.cart greaterThan” can't be compared. Must be a number or a date",
  ],
  [
    { field: "data.cart", operator: "equals", value: "{{event.object}}" },
    "The value of “data.cart equals” can't be compared. Must be a text, a number, true or false.",
  ],
  [
    { field: "createdAt", operator: "lessThan", value: "{{event.missing}}" },
    "“createdAt lessThan” is missing",
  ],
  [{ field: "subscribed", operator: "equals", value: "{{event.empty}}" }, "“subscribed equals” is missing"],
])("rejects the condition %j with the reason", (written, reason) => {
  expect(() => fillFilter(all(written), filler())).toThrow(reason);
});

test("ignores signs inside of variables", () => {
  expect(withoutMustaches('a{{x ?? "}}"}}b\\{{c}}', "_")).toBe(`a${"_".repeat(13)}b___c}}`);
});
