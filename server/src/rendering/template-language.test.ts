// Tests the template language: output of each form, rejected forms with positions, and data that must not become code. Exercises
// scan-template.ts, template-syntax.ts and compile-template.ts together, without threads.

import * as fc from "fast-check";
import Handlebars from "handlebars";
import { expect, test } from "vitest";
import { leastCpuMs } from "../testing/cpu-timer.ts";
import { compileTemplate } from "./compile-template.ts";
import { scanTemplate } from "./scan-template.ts";
import {
  BLOCK_DEPTH_MAX,
  MUSTACHE_LENGTH_MAX_CHARACTERS,
  MUSTACHES_PER_TEMPLATE_MAX,
  PARENTHESES_DEPTH_MAX,
  PATH_SEPARATORS_PER_MUSTACHE_MAX,
  TEMPLATE_LENGTH_MAX_CHARACTERS,
} from "./template-limits.ts";
import { checkTemplate, parseTemplate } from "./template-syntax.ts";

function render(source: string, variables: Record<string, unknown>, escape = true): string {
  const { program, problems } = parseTemplate(source);
  if (program === null) throw new Error(JSON.stringify(problems));
  return compileTemplate(program, { escape })(variables);
}

function told(source: string): string[] {
  return checkTemplate(source).map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const ADA = {
  name: "Ada <b>",
  empty: "",
  nothing: null,
  no: false,
  zero: 0,
  list: ["a", "b"],
  people: [{ name: "Ada" }, { name: "Bob" }],
  profile: { tier: "gold", city: null, "zip code": "N1" },
  "first name": "Ada",
  "e-mail": "ada@example.com",
  hostile: ["<i>", {}],
  data: { name: "from data" },
  if: "a variable named if",
};

test.each([
  // Variables and escaping.
  ["{{name}}", "Ada &lt;b&gt;"],
  ["{{{name}}} {{&name}}", "Ada <b> Ada <b>"],
  ["{{profile.tier}} {{profile/tier}} {{data.name}}", "gold gold from data"],
  ["{{missing}}{{missing.deeper.still}}{{nothing}}{{empty}}", ""],
  ["{{no}} {{zero}} {{{list}}} {{profile}}", "false 0 a,b [object Object]"],
  // An array is a list, except inside a tag.
  ["<ul>{{list}}</ul>", "<ul><li>a</li><li>b</li></ul>"],
  ["{{hostile}}", "<li>&lt;i&gt;</li><li>[object Object]</li>"],
  ['<a title="{{list}}">{{#if name}}<b alt="{{list}}{{/if}}">{{missing}}', '<a title="a,b"><b alt="a,b">'],
  // Any quotes, and entities of quotes.
  ["{{firstName ?? “there”}} {{firstName ?? „du“}} {{firstName ?? «ami»}}", "there du ami"],
  ['{{firstName ?? ‘l’ami’}} {{firstName ?? “there"}}', "l’ami there"],
  ["{{firstName ?? &quot;there&quot;}} {{firstName ?? &#x27;l&#39;ami&#x27;}}", "there l&#x27;ami"],
  ["{{firstName ?? &ldquo;a &amp; b&rdquo;}}{{&nbsp;zero&nbsp;??&#160;1}}", "a &amp; b0"],
  ["{{#if (eq tier &quot;gold&quot;)}}a{{else}}b{{/if}}{{lookup profile “tier”}}", "bgold"],
  ["{{&quot;first name&quot;}} {{#if (eq profile.tier 'gold')}}gold{{/if}}", "Ada gold"],
  // Bare text after a fallback sign.
  ["{{firstName ?? there}} {{firstName??there}} {{ firstName ?? there! }}", "there there there!"],
  [
    "{{nick ?? dear customer}} {{nick ?? l'ami}} {{nick ?? Hi, you (all)}}",
    "dear customer l&#x27;ami Hi, you (all)",
  ],
  [
    "{{{nick ?? dear &amp; good}}} {{nick ?? firstName ?? dear\n  customer ~}} .",
    "dear & good dear customer.",
  ],
  ["{{nick ?? &nbsp;dear customer}} {{[no such] ?? dear customer}}", "dear customer dear customer"],
  // A single word that has a value is a variable, even if the value is null.
  ["{{nick ?? name}} {{nick ?? nothing}}|{{nick ?? data}}", "Ada &lt;b&gt; |[object Object]"],
  ["{{nick ?? unsubscribeUrl}}{{nick ?? profile.no}}{{#with profile}}{{no ?? name}}{{/with}}", ""],
  ["{{nick ?? constructor}} {{nick ?? toString}}", "constructor toString"],
  ["{{#if name}}{{nick ?? there}}{{/if}}{{#unless nick}}{{nick ?? you}}{{/unless}}", "thereyou"],
  // Comparisons.
  ['{{#if (eq profile.tier "gold")}}a{{else}}b{{/if}}{{#if (ne name "x")}}c{{/if}}', "ac"],
  ['{{eq zero "0"}} {{eq missing nothing}} {{eq no "false"}} {{eq profile profile}}', "true true true true"],
  ["{{gt 10 9}} {{gt '10' '9'}} {{lt 'a' 'b'}} {{gte 1 1}} {{lte 2 1}}", "true true true true false"],
  ["{{gt missing 1}} {{lt missing 1}} {{gt profile 1}} {{gt '' 1}}", "false false false false"],
  ["{{not empty}} {{and name list}} {{or empty no list}} {{and name zero}}", "true true true false"],
  ["{{#if (and (not empty) (or no (eq zero 0)))}}x{{/if}}{{eq}}{{not}}{{#and}}y{{/and}}", "x"],
  // Mustaches of other services are text.
  [
    '{{ .Subscriber.Name }} {{insert name "default=x"}}',
    '{{ .Subscriber.Name }} {{insert name "default=x"}}',
  ],
  ["{{#equals a b}}{{zero}}{{else}}n{{/equals}}", "{{#equals a b}}0{{else}}n{{/equals}}"],
  ["{{#if name}}{{#equals a b}}{{else}}{{/if}}{{zero}}", "{{#equals a b}}{{else}}0"],
  ['{{[first name]}} {{profile.[zip code]}} {{e-mail}} {{"first name"}}', "Ada N1 ada@example.com Ada"],
  ["{{this.if}} {{if}}", "a variable named if a variable named if"],
  // Fallbacks.
  ['{{firstName ?? "there"}}', "there"],
  ["{{firstName ?? 'there'}}", "there"],
  ['{{firstName??"there"}}', "there"],
  ['{{ name  ??  "there" }}', "Ada &lt;b&gt;"],
  ['{{{missing ?? "<i>"}}} {{missing ?? "<i>"}}', "<i> &lt;i&gt;"],
  ['{{profile.city ?? "nowhere"}} {{profile.tier ?? "none"}}', "nowhere gold"],
  ["{{missing ?? nothing ?? 0}} {{missing ?? name ?? 0}}", "0 Ada &lt;b&gt;"],
  ['{{empty ?? "x"}}{{no ?? "x"}}{{zero ?? "x"}}', "false0"],
  ["{{missing ?? true}} {{missing ?? -1.5}} {{missing ?? nothing}}", "true -1.5 "],
  [
    '{{missing ?? "a ?? b"}} {{missing ?? "}}"}} {{missing ?? "say \\"hi\\""}}',
    "a ?? b }} say &quot;hi&quot;",
  ],
  ['{{[no such] ?? [first name]}} {{profile.[no such] ?? "?"}}', "Ada ?"],
  ["{{@root.missing ?? @root.zero}}", "0"],
  ["{{missing ?? (missing ?? zero)}}", "0"],
  ["{{#if (missing ?? false)}}yes{{else}}no{{/if}}{{#if missing ?? zero ?? name}}yes{{/if}}", "no"],
  ["{{#each missing ?? list}}[{{this}}]{{/each}}", "[a][b]"],
  ['{{#with (profile ?? "x") as |p|}}{{p.tier ?? "-"}}{{p.city ?? "-"}}{{/with}}', "gold-"],
  ['{{#each people as |person|}}{{person.nick ?? person.name}}{{../missing ?? "."}}{{/each}}', "Ada.Bob."],
  ['{{lookup profile missing ?? "tier"}}', "gold"],
  ["{{#if missing}}{{else if missing ?? true}}second{{/if}}", "second"],
  ['{{~ missing ?? "x" ~}} !', "x!"],
  // Blocks and helpers.
  ["{{#if name}}yes{{else}}no{{/if}}{{#unless name}}no{{/unless}}", "yes"],
  ["{{#if zero includeZero=true}}zero{{/if}}", "zero"],
  ["{{#if missing}}a{{else if no}}b{{else}}c{{/if}}", "c"],
  ["{{#each list}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}", "0a,1b"],
  ["{{#each profile}}{{@key}}={{this}};{{/each}}", "tier=gold;city=;zip code=N1;"],
  ["{{#each missing}}x{{else}}none{{/each}}", "none"],
  ["{{#with profile}}{{tier}} {{../name}}{{/with}}", "gold Ada &lt;b&gt;"],
  ["{{#people}}{{name}} {{/people}}{{^missing}}none{{/missing}}", "Ada Bob none"],
  ['{{lookup profile "tier"}} {{lookup list 1}} {{lookup (lookup people 0) "name"}}', "gold b Ada"],
  ['{{#each people}}{{lookup .. "zero"}}{{/each}}', "00"],
  // Text that is not a mustache.
  ["{{! a ?? b }}{{!-- {{a ?? }} --}}x", "x"],
  ["\\{{name ?? }} \\\\{{zero}}", "{{name ?? }} \\0"],
  ["{{{{if name}}}}{{raw ?? }} {{{{x}}}}y{{{{/x}}}}{{{{/if}}}}", "{{raw ?? }} {{{{x}}}}y{{{{/x}}}}"],
  ["{ {a} }} ?? {{zero}}", "{ {a} }} ?? 0"],
  // Own properties only.
  ["{{constructor}}{{constructor.constructor}}{{__proto__}}{{toString}}{{profile.constructor.name}}", ""],
  [
    '{{hasOwnProperty}}{{lookup this "constructor"}}{{lookup list "push"}}{{#with constructor}}x{{/with}}',
    "",
  ],
  ["{{log}}{{each}}{{helperMissing}}{{blockHelperMissing}}{{#log}}x{{/log}}{{lookup}}", ""],
  ["{{list.length}} {{@root.name}} {{@_parent.x}}{{@partial-block}}", "2 Ada &lt;b&gt; "],
])("%s prints %j", (source, expected) => {
  expect(render(source, ADA)).toBe(expected);
});

test("escapes nothing in a part that is not HTML", () => {
  expect(render("{{name}} {{{name}}} {{missing ?? '<i>'}}", ADA, false)).toBe("Ada <b> Ada <b> <i>");
});

test.each([
  ["{{#if a}}\n  x", "1:1 This block is never closed."],
  ["a\n{{/if}}", "2:1 This closes a block that was not opened."],
  ["{{#if a}}x{{/each}}", '1:4 The block "if" is closed as "each".'],
  ["{{else}}", "1:1 This is only allowed inside a block."],
  ["{{#if a}}{{else}}\n{{else}}{{/if}}", "2:1 {{else}} is not expected here."],
  ["<p>{{name</p>\n{{b}}", "1:4 This mustache is never closed."],
  ["{{name", "1:1 This mustache is never closed."],
  ["{{{name}}", "1:1 This mustache starts with {{{ and must end with }}}."],
  ["{{name}}}", "1:1 This mustache starts with {{ and must end with }}."],
  ['{{a ?? "b}}', "1:8 The string that starts here is never closed."],
  ["{{[a}}", "1:3 The [name] that starts here is never closed."],
  ["{{! x", "1:1 This comment is never closed."],
  ["{{!-- x }}", "1:1 This comment is never closed."],
  ["{{{{raw}}}} x", "1:1 This raw block is never closed."],
  ["{{}}", "1:3 The end of the mustache is not expected here."],
  ["\r\n\r {{a %}}", "3:6 This character is not expected here."],
  ["a\0b", "1:2 The template contains a NUL character."],
  ["x\n {{a ?? }}", "2:6 ?? must be between two values."],
  ["{{?? a}}", "1:3 ?? must be between two values."],
  ['{{a ?? "b" c}}', "1:12 Only ?? may follow a value that has a fallback."],
  ["{{a ?? “b}}", "1:8 The string that starts here is never closed."],
  ["{{a ?? b c {{d}}", "1:1 This mustache is never closed."],
  ['{{foo "x"}}', '1:1 Unknown helper "foo".'],
  [
    "x {{First Name}}",
    '1:3 Unknown helper "First". A name with spaces is written {{[First Name]}} or, with a fallback, {{[First Name] ?? "x"}}.',
  ],
  [
    '\n{{First Name ?? "you"}}',
    '2:1 Unknown helper "First". A name with spaces is written {{[First Name]}} or, with a fallback, {{[First Name] ?? "you"}}.',
  ],
  ["{{#if (eq a)}}{{/if}}", "1:7 eq takes exactly two values."],
  ["{{not a b}}", "1:1 not takes exactly one value."],
  ["{{#if (and a)}}{{/if}}", "1:7 and takes at least two values."],
  ["{{#foo x}}{{/foo}}", '1:4 Unknown block helper "foo". The block helpers are if, unless, each, with.'],
  [
    "{{#if (foo x)}}{{/if}}",
    '1:7 Unknown helper "foo". A name with spaces is written {{[foo x]}} or, with a fallback, {{[foo x] ?? "x"}}.',
  ],
  ['{{log "x"}}', '1:1 Unknown helper "log".'],
  ['{{helperMissing "x"}}', '1:1 Unknown helper "helperMissing".'],
  ["{{if a}}", "1:1 if is a block helper: {{#if …}} … {{/if}}."],
  ["{{#each}}{{/each}}", "1:4 {{#each}} takes exactly one value."],
  ["{{#if a b}}{{/if}}", "1:4 {{#if}} takes exactly one value."],
  ["{{#if a x=1}}{{/if}}", '1:4 {{#if}} does not know the option "x".'],
  ["{{lookup a}}", "1:1 lookup takes exactly two values."],
  ["x {{> header}}", "1:3 Partials ({{> …}}) are not available."],
  ["{{#> layout}}x{{/layout}}", "1:1 Partials ({{> …}}) are not available."],
  ["{{* decorator}}", "1:1 Decorators ({{* …}}) are not available."],
  ['{{#* inline "x"}}y{{/inline}}', "1:1 Decorators ({{* …}}) are not available."],
])("rejects %j: %s", (source, problem) => {
  expect(told(source)).toEqual([problem]);
});

test("reports every problem, not only the first", () => {
  expect(told("{{foo 1}}\n{{#if a}}{{bar 1}}{{/if}}")).toEqual([
    '1:1 Unknown helper "foo".',
    '2:10 Unknown helper "bar".',
  ]);
});

test.each([
  ["a.b".padEnd(20_000, ".b"), "paths"],
  ["../".repeat(1_000) + "a", "paths"],
  ["a ".repeat(MUSTACHE_LENGTH_MAX_CHARACTERS), "never closed or longer than"],
  [`x ${"(".repeat(PARENTHESES_DEPTH_MAX + 1)}`, "Parentheses"],
])("rejects a mustache that would be a parser bomb before parsing (%#)", (inside, message) => {
  expect(checkTemplate(`{{${inside}}}`)[0]?.message).toContain(message);
});

test.each([
  ["nested blocks", "{{#a}}".repeat(3_000) + "{{/a}}".repeat(3_000), "nested deeper"],
  ["a chain of else if", `{{#if a}}${"{{else if a}}".repeat(3_000)}{{/if}}`, "nested deeper"],
  ["many mustaches", "{{a}}".repeat(MUSTACHES_PER_TEMPLATE_MAX + 1), "more than 1,500 mustaches"],
  ["ten megabytes of mustaches", "{{a}}".repeat(2_000_000), "longer than 2,000,000 characters"],
  ["long mustaches", `{{"${"x".repeat(3_000)}"}}`.repeat(9), "more than 25,000 characters in total"],
])("rejects %s before parsing", async (_, source, message) => {
  expect(checkTemplate(source)[0]?.message).toContain(message);
  expect(await leastCpuMs(100, () => checkTemplate(source))).toBeLessThan(100);
});

test.each([
  ["mustaches", "{{a}}".repeat(MUSTACHES_PER_TEMPLATE_MAX)],
  ["fallbacks", `{{a${"??a".repeat(1_300)}}}`.repeat(6)],
  ["paths", `{{a${".a".repeat(PATH_SEPARATORS_PER_MUSTACHE_MAX)}}}`.repeat(280)],
  [
    "identical nested blocks",
    Array.from(
      { length: 15 },
      (_, n) => `${"{{#a}}".repeat(BLOCK_DEPTH_MAX)}${n}${"{{/a}}".repeat(BLOCK_DEPTH_MAX)}`,
    ).join(""),
  ],
  ["else if", `{{#if a}}${"{{else if b}}x".repeat(BLOCK_DEPTH_MAX - 1)}{{/if}}`.repeat(29)],
  ["empty lines", `${"\n".repeat(999_000)}x${"\n".repeat(999_000)}{{#if a}}{{/if}}`],
  ["spaces", `${" ".repeat(999_000)}x${" ".repeat(999_000)}{{~#if a~}}{{/if}}`],
])("compiles the maximum number of %s", async (_, source) => {
  expect(source.length).toBeLessThanOrEqual(TEMPLATE_LENGTH_MAX_CHARACTERS);
  // Measured on two slow cores: 20 to 100 ms to parse, 20 to 200 ms to compile.
  expect(await leastCpuMs(600, () => render(source, {}))).toBeLessThan(600);
});

test("does not run a tree passed in place of a source", () => {
  const tree: unknown = { type: "Program", body: [] };
  // Input from outside may not match its type.
  expect(() => checkTemplate(tree as string)).toThrow(TypeError);
});

const text = fc.string({
  unit: fc.constantFrom("a", " ", "\n", "\r", "\t", "\u2028", "\u2029", "\\", "{", "}", "é", "😀", "?", "<"),
});

test("finds a ?? at the right column after any text", () => {
  fc.assert(
    fc.property(text, text, (before, between) => {
      const source = `${before} {{a ?? "x"}}${between} {{b??"y"}}`;
      fc.pre(scanTemplate(source).pieces.filter(({ kind }) => kind === "value").length === 2);
      expect(checkTemplate(source)).toEqual([]);
      expect(render(source, {}).replaceAll("\\", "")).toBe(`${before} x${between} y`.replaceAll("\\", ""));
    }),
  );
});

test("reports a problem at its position after any text", () => {
  fc.assert(
    fc.property(text, (before) => {
      const source = `${before}!{{foo 1}}`;
      fc.pre(scanTemplate(source).pieces.some(({ kind }) => kind === "value"));
      // Braces in the text can be a separate problem, as `{{}}` is.
      fc.pre(told(before).length === 0);
      const lines = before.split(/\r\n?|\n/);
      expect(told(source)).toEqual([
        `${lines.length}:${(lines.at(-1)?.length ?? 0) + 2} Unknown helper "foo".`,
      ]);
    }),
  );
});

const fragment = fc.constantFrom(
  "{{",
  "}}",
  "{{{",
  "}}}",
  "{{{{",
  "}}}}",
  "{{/",
  "{{#",
  "{{^",
  "{{!",
  "{{!--",
  "--}}",
  "{{else",
  "{{~",
  "~}}",
  "{{&",
  "{{>",
  "{{*",
  "\\",
  "\\\\",
  "if",
  "each",
  "with",
  "lookup",
  "unless",
  "a",
  "b.c",
  "this",
  "..",
  ".",
  "/",
  "@index",
  "[x y]",
  "[",
  "]",
  '"s"',
  "'",
  '"',
  "?? ",
  "??",
  "(",
  ")",
  "|",
  " as |x|",
  "=",
  " ",
  "\n",
  "1",
  "true",
  "null",
);
const mustache = fc.constantFrom(
  "{{a}}",
  "{{{b.c}}}",
  "{{&a}}",
  '{{a ?? "x"}}',
  "{{a ?? b ?? 0}}",
  "{{this}}",
  "{{.}}",
  "{{../a}}",
  "{{@key}}{{@index}}",
  "{{lookup a b}}",
  "{{lookup this a ?? 0}}",
  "{{[x y]}}",
  "{{else}}",
  "{{#if a}}",
  "{{#if a ?? b}}",
  "{{/if}}",
  "{{#each a}}",
  "{{#each a as |b c|}}",
  "{{/each}}",
  "{{#with b}}",
  "{{/with}}",
  "{{#a}}",
  "{{/a}}",
  "{{^a}}",
  "{{else if b}}",
  " ",
  "\n",
  "x",
);
const source = fc
  .oneof(fc.array(fragment, { maxLength: 30 }), fc.array(mustache, { maxLength: 12 }))
  .map((parts) => parts.join(""));
const hostile = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.constantFrom("{{a}}", "{{{a}}}", "{{#each a}}", "\r\nBcc: e@example.com", "[object Object]"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        "a",
        "b",
        "c",
        "toString",
        "valueOf",
        "toHTML",
        "length",
        "constructor",
        "__proto__",
        "call",
        "x y",
      ),
      tie("value"),
      { maxKeys: 4 },
    ),
  ),
})).value;
const variables = fc
  .record({ a: hostile, b: hostile, "x y": hostile }, { requiredKeys: [] })
  .map((made): Record<string, unknown> => JSON.parse(JSON.stringify(made)));

test("a template that passes the check renders with any data", () => {
  fc.assert(
    fc.property(source, variables, fc.boolean(), (template, data, escape) => {
      fc.pre(checkTemplate(template).length === 0);
      expect(typeof render(template, data, escape)).toBe("string");
    }),
    { numRuns: 2_000, maxSkipsPerRun: 1_000 },
  );
});

test("Handlebars parses every template that passes the check", () => {
  fc.assert(
    fc.property(source, (template) => {
      fc.pre(!template.includes("??") && checkTemplate(template).length === 0);
      // Mustaches of other services are text here and may be an error in Handlebars.
      fc.pre(scanTemplate(template).plainSource === template);
      expect(() => Handlebars.parse(template)).not.toThrow();
    }),
    { numRuns: 1_000, maxSkipsPerRun: 1_000 },
  );
});

test("prints data that looks like a template as text", () => {
  fc.assert(
    fc.property(fc.oneof(source, fc.string()), (data) => {
      expect(render("{{a}}|{{{a}}}|{{#each l}}{{this}}{{/each}}", { a: data, l: [data] }, false)).toBe(
        `${data}|${data}|${data}`,
      );
      expect(render("{{a}}", { a: data })).toBe(Handlebars.escapeExpression(data));
    }),
  );
});

test("prints values with an invalid toString, also inside arrays and as keys", () => {
  const odd = { toString: "x", valueOf: 1, toHTML: "<b>" };
  const data = {
    odd,
    list: [1, [odd, null, "a"]],
    deep: JSON.parse(`${"[".repeat(1_000)}1${"]".repeat(1_000)}`),
  };
  expect(render("{{odd}} {{{odd}}} {{list}} {{lookup odd odd}}{{lookup list odd}}{{deep}}", data)).toBe(
    "[object Object] [object Object] <li>1</li><li>[object Object],,a</li> <li></li>",
  );
});
