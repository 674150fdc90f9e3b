// Tests which variables of a template are found without parsing, compared with the names that rendering looks up.
import { expect, test } from "vitest";
import { compileContent } from "../rendering/compile-content.ts";
import { mustachesOf, variablesOf } from "./mustaches.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const namesIn = (source: string) => variablesOf(source).map(({ name }) => name);

const CASES: Array<[string, string, string[]]> = [
  ["no variable", "<p>Hello</p>", []],
  ["a variable", "{{name}}", ["name"]],
  ["blanks, tildes and three braces", "{{ a }} {{~b~}} {{{c}}} {{& d}}", ["a", "b", "c", "d"]],
  ["a path", "{{profile.tier}} {{profile/name}}", ["profile", "profile"]],
  ["data", "{{data.plan}} {{data}}", ["plan", "data"]],
  ["fallbacks", '{{a ?? "x"}} {{b??c ?? 0}} {{d.e ?? null}}', ["a", "b", "c", "d"]],
  ["names with spaces", "{{[first name]}} {{data.[last name]}}", ["first name", "last name"]],
  ["names in other scripts", "{{vorname_ü}} {{名前}} {{first-name}}", ["vorname_ü", "名前", "first-name"]],
  [
    "literals",
    '{{a ?? "text"}} {{a ?? 12}} {{a ?? null}} {{#if true}}{{/if}}{{lookup a "b"}}',
    ["a", "a", "a", "a"],
  ],
  [
    "names that look like literals",
    `{{true}} {{"first name"}} {{'x'}} {{12}}`,
    ["true", "first name", "x", "12"],
  ],
  ["comments", "{{! a }} {{!-- {{b}} --}} <!-- {{c}} -->", ["c"]],
  ["escaped braces", "\\{{a}} {{b}}", ["b"]],
  ["a raw block", "{{{{raw}}}} {{a}} {{{{/raw}}}}", []],
  ["conditions", "{{#if a}}{{b}}{{else if c}}{{d}}{{else}}{{e}}{{/if}}", ["a", "b", "c", "d", "e"]],
  ["an option", "{{#if a includeZero=true}}{{/if}}", ["a"]],
  ["unless", "{{#unless a}}{{b}}{{^}}{{c}}{{/unless}}", ["a", "b", "c"]],
  [
    "items of a list",
    "{{#each items}}{{title}} {{@index}} {{this}} {{.}}{{/each}}{{after}}",
    ["items", "after"],
  ],
  ["above a list", "{{#each items}}{{../shop}} {{@root.town}}{{/each}}", ["items", "shop", "town"]],
  ["two levels", "{{#each a}}{{#each b}}{{../c}} {{../../d}}{{/each}}{{/each}}", ["a", "d"]],
  ["a condition in a list", "{{#each a}}{{#if b}}{{../c}}{{/if}}{{/each}}", ["a", "c"]],
  ["an empty list", "{{#each items}}{{title}}{{else}}{{shop}}{{/each}}", ["items", "shop"]],
  ["named items", "{{#each items as |item at|}}{{item.title}} {{at}}{{/each}}", ["items"]],
  ["with", "{{#with profile}}{{tier}}{{/with}}{{#with a as |p|}}{{p.x}}{{/with}}", ["profile", "a"]],
  ["a section", "{{#profile}}{{tier}}{{else}}{{a}}{{/profile}}", ["profile", "a"]],
  ["an inverse section", "{{^profile}}{{a}}{{else}}{{tier}}{{/profile}}", ["profile", "a"]],
  ["lookup", "{{lookup map key}} {{#if (lookup a b)}}{{/if}} {{lookup}}", ["map", "key", "a", "b", "lookup"]],
  ["this", "{{this.name}} {{./plan}}", ["name", "plan"]],
  ["quotes in an attribute", `<a href="{{url ?? "https://a.example"}}">`, ["url"]],
];

test.for(CASES)("reads the variables of %s: %s", ([, source, names]) => {
  expect(namesIn(source)).toEqual(names);
});

test("finds every top-level name that rendering looks up", () => {
  for (const [, source] of CASES) {
    const asked = new Set<string>();
    const recorder = new Proxy<Record<string, unknown>>(
      {},
      {
        get: (_target, name) => void (typeof name === "string" && asked.add(name)),
        getOwnPropertyDescriptor(_target, name) {
          if (typeof name === "string") asked.add(name);
          return undefined;
        },
        has: () => false,
      },
    );
    compileContent({ subject: "", html: source, text: "" }, () => undefined).render(recorder);
    const reported = new Set([...namesIn(source), "data"]);
    // Without values, sections and lists do not look up the names inside them.
    expect([...asked].filter((name) => !reported.has(name) && !/^(?:toJSON|raw|length)$/.test(name))).toEqual(
      [],
    );
  }
});

test("returns each name with its position", () => {
  const source = 'Hi {{first ?? "x"}}, {{#if  second}}{{/if}}';
  expect(variablesOf(source).map(({ start }) => source.slice(start, start + 5))).toEqual(["first", "secon"]);
});

test.for([
  "{{",
  "{{#if}",
  "{{a {{b}}",
  "{{/if}}",
  "{{#each a}}",
  "{{'}}",
  "{{[}}",
  "{{{{",
  "}}",
  "{{as |a|}}",
])("reads %s despite its error", (source) => {
  expect(() => [mustachesOf(source), variablesOf(source)]).not.toThrow();
});

test("reads the largest template and a hostile one in no time", async () => {
  const sources = ["{{a.b.c ?? d}} ".repeat(1_500), `{{${"a ".repeat(1_900)}}}`, `{{${"(".repeat(3_000)}}}`];
  const read = () => sources.map((source) => variablesOf(source));
  expect(await leastCpuMs(200, read)).toBeLessThan(200);
});
