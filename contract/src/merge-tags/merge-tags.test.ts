// Tests that every merge tag in the table is found and converted, and that normal text stays unchanged.
import { expect, test } from "vitest";
import { leastCpuMs } from "../../../server/src/testing/cpu-timer.ts";
import { convertMergeTags, findMergeTags } from "./find-merge-tags.ts";
import type { MergeTagContext } from "./variables.ts";

const CONTEXT: MergeTagContext = {
  fields: new Set(["firstName", "plan"]),
  projectName: "Acme & Sons",
  postalAddress: "1 High Street\nLondon <N1>",
  year: 2026,
};

function convert(text: string, context: Partial<MergeTagContext> = {}): string {
  const [converted = ""] = convertMergeTags([{ text, isHtml: true }], { ...CONTEXT, ...context });
  return converted;
}

function find(text: string, context: Partial<MergeTagContext> = {}) {
  const [found = []] = findMergeTags([{ text, isHtml: true }], { ...CONTEXT, ...context });
  return found;
}

test.each([
  // Mailchimp
  ["Mailchimp", "*|FNAME|*", "{{firstName}}"],
  ["Mailchimp", "*|LNAME|*", "{{lastName}}"],
  ["Mailchimp", "*|EMAIL|*", "{{email}}"],
  ["Mailchimp", "*|UNSUB|*", "{{unsubscribeUrl}}"],
  ["Mailchimp", "*%7CUNSUB%7C*", "{{unsubscribeUrl}}"],
  ["Mailchimp", "*|UPDATE_PROFILE|*", "{{manageUrl}}"],
  ["Mailchimp", "*|LIST:ADDRESS|*", "1 High Street<br>London &lt;N1&gt;"],
  ["Mailchimp", "*|LIST:COMPANY|*", "Acme &amp; Sons"],
  ["Mailchimp", "*|CURRENT_YEAR|*", "2026"],
  ["Mailchimp", "*|IF:PLAN=pro|*", '{{#if (eq plan "pro")}}'],
  ["Mailchimp", "*|FAVORITE_COLOR|*", "{{favoriteColor}}"],
  // Mailgun
  ["Mailgun", "%recipient.name%", "{{name}}"],
  ["Mailgun", "%recipient.order_id%", "{{order_id}}"],
  ["Mailgun", "%unsubscribe_url%", "{{unsubscribeUrl}}"],
  // MailerLite
  ["MailerLite", "{$name}", "{{name}}"],
  ["MailerLite", "{$unsubscribe}", "{{unsubscribeUrl}}"],
  ["MailerLite", "{$job_title}", "{{jobTitle}}"],
  // ActiveCampaign
  ["ActiveCampaign", "%FIRSTNAME%", "{{firstName}}"],
  ["ActiveCampaign", "%UNSUBSCRIBELINK%", "{{unsubscribeUrl}}"],
  // Loops
  ["Loops", "{DATA_VARIABLE:x}", "{{x}}"],
  ["Loops", "{DATA_VARIABLE:order_id}", "{{order_id}}"],
  // SendGrid
  ["SendGrid", "{{{unsubscribe}}}", "{{unsubscribeUrl}}"],
  ["SendGrid", "<%body%>", ""],
  ["SendGrid", "<%asm_group_unsubscribe_raw_url%>", "{{unsubscribeUrl}}"],
  ["SendGrid", "{{#equals a b}}", "{{#if (eq a b)}}"],
  ["SendGrid", "{{#greaterThan total 100}}", "{{#if (gt total 100)}}"],
  ["SendGrid", '{{insert name "default=there"}}', '{{name ?? "there"}}'],
  ["SendGrid", "{{insert name &quot;default=there&quot;}}", '{{name ?? "there"}}'],
  // listmonk
  ["listmonk", "{{ UnsubscribeURL }}", "{{unsubscribeUrl}}"],
  ["listmonk", "{{ .Subscriber.Name }}", "{{name}}"],
  ["listmonk", "{{ .Subscriber.Attribs.city }}", "{{city}}"],
  ["listmonk", "@TrackLink", ""],
  ["listmonk", '{{ TrackLink "https://acme.test/a" . }}', "https://acme.test/a"],
  // Kit
  ["Kit", "{{ unsubscribe_url }}", "{{unsubscribeUrl}}"],
  ["Kit", "{{ subscriber.first_name }}", "{{firstName}}"],
  ["Kit", "{{ subscriber.city }}", "{{city}}"],
  // Liquid
  ["Liquid", '{% if plan == "pro" %}', '{{#if (eq plan "pro")}}'],
  [
    "Liquid",
    "{% if plan == &quot;pro&quot; and total &gt;= 5 %}",
    '{{#if (and (eq plan "pro") (gte total 5))}}',
  ],
  ["Liquid", "{%- unless subscriber.first_name == blank -%}", "{{#unless (not firstName)}}"],
  ["Liquid", '{{ subscriber.first_name | strip | default: "there" }}', '{{firstName ?? "there"}}'],
  ["Liquid", '{{ "now" | date: "%Y" }}', "2026"],
  ["Liquid", "{% for item in items %}", "{{#each items as |item|}}"],
  ["Liquid", "{% raw %}*|FNAME|* {{x}}{% endraw %}", String.raw`*|FNAME|* \{{x}}`],
  ["Liquid", "{% comment %}*|FNAME|*{% endcomment %}", ""],
] as const)("%s: converts %s to %j", (service, tag, expected) => {
  const text = `<p>é🦀 ${tag}</p>`;
  expect(find(text)).toEqual([{ start: 7, end: 7 + tag.length, service, text: tag, replacement: expected }]);
  expect(convert(text)).toBe(`<p>é🦀 ${expected}</p>`);
});

test.each([
  ["{% assign x = 1 %}"],
  ["{% if tags contains 'a' %}"],
  ["*|LIST:URL|*"],
  ["*|SURVEY:1|*"],
  ["{{ .Campaign.Subject }}"],
])("%s: finds a tag without a replacement and keeps it", (tag) => {
  expect(find(tag)).toMatchObject([{ text: tag, replacement: null }]);
  expect(convert(tag)).toBe(tag);
});

test.each([
  "50% off %name%",
  "50%OFF%",
  "%SALE%",
  "100%COTTON%",
  "https://acme.test/?q=%D0%BF%D1%80&x=%FAX%20",
  "*|* { color: red } svg|a *| *|a",
  "2 *| 3 |* 4",
  "<style>*|*:link{color:red}@media{p{width:50%}}</style>",
  "<script>const x = `${name}`; if (a %b%) {}</script>",
  "{ name } {name} {Name: 1}",
  "<% not a tag at all, is it? %>",
  "support@TrackLinks.test",
  "{{firstName}} {{name}} {{{html}}} {{#if plan}}a{{else}}b{{/if}}",
  "{{firstName ?? there}} {{name ?? dear customer}} {{name ?? “there”}}",
  "{{#each items as |item|}}{{item.name}}{{/each}}",
  '{{#if (eq plan "pro")}}a{{/if}}',
  "{{unsubscribeUrl}} {{data.unsubscribe_url}}",
  String.raw`\{{ .Subscriber.Name }}`,
  "{{! *|FNAME|* }}{{!-- {{insert a}} %FIRSTNAME% --}}",
  "{{{{raw}}}}*|FNAME|*{{{{/raw}}}}",
  "{% Raw %} {%} %}",
])("%j contains no merge tag", (text) => {
  expect(find(text)).toEqual([]);
  expect(convert(text)).toBe(text);
});

test("a name of a contact field or of the call's data is one of our variables", () => {
  const fields = new Set(["unsubscribe_url", "subscriber", "unsubscribe"]);
  const text = "{{ unsubscribe_url }}{{ subscriber.first_name }}{{{unsubscribe}}}";
  expect(find(text, { fields })).toEqual([]);
});

test("a tag finds the field with the same letters", () => {
  const fields = new Set(["First Name", "FAV_COLOR"]);
  expect(convert("*|FIRST_NAME|* *|FAV_COLOR|* %recipient.first_name%", { fields })).toBe(
    "{{[First Name]}} {{FAV_COLOR}} {{[First Name]}}",
  );
});

test("%COMPANY% is a tag only if the email has a tag unique to ActiveCampaign", () => {
  expect(convert("%COMPANY% %SALE%")).toBe("%COMPANY% %SALE%");
  expect(convert("Dear %FIRSTNAME% of %COMPANY%")).toBe("Dear {{firstName}} of {{company}}");
});

test.each([
  [
    "*|IF:PLAN=pro|*a*|ELSEIF:AGE>=18|*b*|ELSE:|*c*|END:IF|* *|IFNOT:VIP|*d*|END:IF|*",
    '{{#if (eq plan "pro")}}a{{else if (gte age "18")}}b{{else}}c{{/if}} {{#unless vip}}d{{/unless}}',
  ],
  ["*|IF:MC_PREVIEW_TEXT|*x*|END:IF|*", "{{#if false}}x{{/if}}"],
  [
    '{% if plan == "pro" %}a{% elsif vip %}b{% else %}c{% endif %}',
    '{{#if (eq plan "pro")}}a{{else if vip}}b{{else}}c{{/if}}',
  ],
  ["{{#equals a b}}x{{else}}y{{/equals}}", "{{#if (eq a b)}}x{{else}}y{{/if}}"],
  // A condition without an equivalent stays complete, including its end.
  [
    "{% if tags contains 'a' %}{% if vip %}x{% endif %}{% else %}y{% endif %}",
    "{% if tags contains 'a' %}{{#if vip}}x{{/if}}{% else %}y{% endif %}",
  ],
])("closes the blocks it opens: %s", (text, expected) => {
  expect(convert(text)).toBe(expected);
  expect(convert(expected)).toBe(expected);
});

test("a condition can close in a later part, and a subject has no HTML", () => {
  expect(
    convertMergeTags(
      [
        { text: "*|LIST:ADDRESS|*", isHtml: false },
        { text: "*|IFNOT:VIP|*a", isHtml: true },
        { text: "b*|END:IF|*", isHtml: true },
      ],
      CONTEXT,
    ),
  ).toEqual(["1 High Street, London <N1>", "{{#unless vip}}a", "b{{/unless}}"]);
});

test.each([
  "*|A",
  "*|A|*",
  "{{",
  "{{{{",
  "{{!",
  "{%",
  "{% if ",
  "{% raw %}",
  "%RECIPIENT",
  "%recipient.",
  "<%a",
  "{$a",
  "{{a | b",
  "\\{{",
  "@TrackLink",
])("reads half a megabyte of %j quickly", async (piece) => {
  const fields = new Set(Array.from({ length: 1_000 }, (_, at) => `field${at}`));
  const text = piece.repeat(500_000 / piece.length);
  // Measured on two slow cores: up to 600 ms.
  expect(await leastCpuMs(3_000, () => convert(text, { fields }))).toBeLessThan(3_000);
});
