// Marketing email footer: both links, in the contact's language, safe for any project name.
import { expect, test } from "vitest";
import { footersOf } from "./footer.ts";
import { LANGUAGES } from "./locale.ts";

const links = {
  unsubscribeUrl: "https://post.example/unsubscribe/abc?a=1&b=2",
  manageUrl: "https://post.example/manage/abc",
};

test.for(Object.keys(LANGUAGES))("both parts in %s have the reason and both links", (locale) => {
  const { html, text } = footersOf(locale, { name: "Ada's shop" })(links);
  expect(html).toContain(`<div lang="${locale}" dir="${["ar", "he"].includes(locale) ? "rtl" : "ltr"}"`);
  expect(html).toContain('href="https://post.example/unsubscribe/abc?a=1&amp;b=2"');
  expect(html).toContain('href="https://post.example/manage/abc"');
  expect(html).toContain("<bdi>Ada&#39;s shop</bdi>");
  expect(html).not.toMatch(/[{}]/);
  const [why, stop, manage, ...more] = text.split("\n");
  expect(why).toContain("Ada's shop");
  expect(stop).toMatch(/: https:\/\/post\.example\/unsubscribe\/abc\?a=1&b=2$/);
  expect(manage).toMatch(/: https:\/\/post\.example\/manage\/abc$/);
  expect(more).toEqual([]);
});

test("finds the language in any spelling and falls back to English for unknown ones", () => {
  expect(footersOf("de_AT", { name: "P" })(links).text).toContain("Abmelden: https:");
  expect(footersOf("tlh", { name: "P" })(links).text).toContain("Unsubscribe: https:");
});

test("a project name is text, never markup or a placeholder", () => {
  const { html, text } = footersOf("en", { name: `"><script>alert(1)</script>{project}{email}` })(links);
  expect(html).toContain("<bdi>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{project}{email}</bdi>");
  expect(text).toContain(`from "><script>alert(1)</script>{project}{email}.`);
});

test("a footer has the colors and the alignment of its email, or a white box", () => {
  const project = { name: "P", logoUrl: "https://a.example/l.png", align: "left" };
  const own = footersOf("en", project)(links).html;
  expect(own).toContain("background-color:#ffffff");
  expect(own).toContain("text-align:left");
  const { html } = footersOf("en", project, { ink: "#e5e7eb", align: "right" })(links);
  expect(html).not.toContain("background-color");
  expect(html).toMatch(/style="color:#e5e7eb;[^"]*text-align:right"/);
  expect(html.match(/<a [^>]*style="color:#e5e7eb/g)).toHaveLength(2);
  expect(footersOf("en", project, { ink: "#e5e7eb", align: null })(links).html).toContain("text-align:left");
  expect(footersOf("en", { ...project, showsLogo: false })(links).html).not.toContain("<img");
});

test("the postal address and logo of a project are in its footers, as text and never as markup", () => {
  const project = {
    name: `Ada & "Co"`,
    postalAddress: "1 Main St\n<b>{name}</b>",
    logoUrl: "https://a.example/l.png?a=1&b=2",
  };
  const { html, text } = footersOf("en", project)(links);
  expect(html).toContain(`<img src="https://a.example/l.png?a=1&amp;b=2" alt="Ada &amp; &quot;Co&quot;"`);
  expect(html).toContain("1 Main St<br>&lt;b&gt;{name}&lt;/b&gt;</p>");
  expect(text.split("\n").slice(-2)).toEqual(["1 Main St", "<b>{name}</b>"]);
});
