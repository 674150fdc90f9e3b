// Tests the guarantees of the layout of platform email.
import { expect, test } from "vitest";
import { layOutPlatformEmail } from "./platform-email-layout.ts";

const MAIL = {
  subject: "The project <b> was disabled",
  blocks: [
    "Too much bounced.",
    { points: ["bounces & complaints"] },
    { quote: "</pre><script>alert(1)</script>" },
  ],
  action: { label: "The rates", url: 'https://mail.example/p?a=1&b="2"' },
  footer: "Sent once.",
};

test("puts the same text in the same order into HTML and plain text", () => {
  const { subject, text, html } = layOutPlatformEmail(MAIL);
  expect(subject).toBe(MAIL.subject);
  expect(text).toBe(
    "Too much bounced.\n\n- bounces & complaints\n\n</pre><script>alert(1)</script>\n\n" +
      'The rates:\nhttps://mail.example/p?a=1&b="2"\n\n-- \nSent once.\n',
  );
  const places = [
    "Too much bounced.",
    "bounces &amp; complaints",
    "alert(1)",
    ">The rates<",
    "Sent once.",
  ].map((word) => html.indexOf(word));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test("escapes user text in the HTML", () => {
  const { html } = layOutPlatformEmail(MAIL);
  expect(html).not.toContain("<script");
  expect(html).not.toContain("<b>");
  expect(html).toContain('href="https://mail.example/p?a=1&amp;b=&quot;2&quot;"');
});

test("supports dark mode and loads nothing from other hosts", () => {
  const { html } = layOutPlatformEmail(MAIL);
  expect(html).toContain("prefers-color-scheme: dark");
  const coloured =
    html.match(/<(?:h1|p|pre|ul|body|table)[^>]*style="[^"]*(?:[;"]color|background):#[^>]*>/g) ?? [];
  expect(coloured.length).toBeGreaterThan(5);
  for (const element of coloured) expect(element).toMatch(/class="(?:ink|dim|page|card)"/);
  expect(html).not.toMatch(/src=|@import|url\(/);
});
