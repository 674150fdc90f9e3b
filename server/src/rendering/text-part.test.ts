// Tests the conversion of HTML to text, case by case. compile-content.test.ts covers mustaches in the HTML.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CONTROL, htmlToText, markedText, PLACEHOLDER_END } from "./text-part.ts";

test.each([
  ["plain text", "plain text"],
  ["", ""],
  // White space and entities.
  ["a \n\t b\u00A0\u00A0c", "a b c"],
  ["  <p>  a  </p>\n\n\n  <p>b</p>  ", "a\n\nb"],
  ["<b> a</b> <i>b </i> c", "a b c"],
  ["&lt;b&gt; &amp;amp; &euro;&#8364;&#x20AC; &nbsp;&unknown;", "<b> &amp; €€€ &unknown;"],
  ["soft\u00ADhyphen\u200B zero\u034F", "softhyphen zero"],
  ["می\u200Cخواهم 👨\u200D👩", "می\u200Cخواهم 👨\u200D👩"],
  ["<pre>a\nb\n\nc</pre>d", "a\nb\n\nc\n\nd"],
  // Blocks and breaks.
  ["<h1>Title</h1><p>one</p><p>two</p>", "Title\n\none\n\ntwo"],
  ["<div>a</div><div><div>b</div></div>c", "a\nb\nc"],
  ["a<br>b<br/>c", "a\nb\nc"],
  ["a<br><br>b<br><br><br><br>c", "a\n\nb\n\nc"],
  ["<p>a<br></p><p>b</p>", "a\n\nb"],
  ["<div>a</div><br><div>b</div>", "a\n\nb"],
  ["a<hr>b", "a\n\n---\n\nb"],
  ["<p>a<p>b", "a\n\nb"],
  // Lists.
  ["Do:<ul><li>one</li><li>two</li></ul>now", "Do:\n\n- one\n- two\n\nnow"],
  ["<ol><li>one<li>two</ol>", "- one\n- two"],
  ["<ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul>", "- a\n  - b\n- c"],
  ["<ul><li></li><li>a</li></ul>", "- a"],
  // Links and images.
  ['<a href="https://a.example/x?a=1&amp;b=2">Go</a> now', "Go (https://a.example/x?a=1&b=2) now"],
  ['<a href="https://a.example/">a.example</a>', "a.example"],
  ['<a href="https://a.example">https://a.example</a>', "https://a.example"],
  [
    '<a href="mailto:a@b.example">a@b.example</a> <a href="mailto:a@b.example">us</a>',
    "a@b.example us (mailto:a@b.example)",
  ],
  ['<a href="#top">up</a> <a>none</a> <a href="javascript:x()">js</a>', "up none js"],
  ['<a href="https://a.example"><div><b>Go</b></div></a>next', "Go (https://a.example)\nnext"],
  ['<a href="https://a.example"><img src="x.png"></a>', "https://a.example"],
  ['<a href="https://a.example"><img src="x.png" alt="Logo"></a>', "Logo (https://a.example)"],
  [
    '<a href="https://a.example">a <a href="https://b.example">b</a>',
    "a (https://a.example) b (https://b.example)",
  ],
  ['<a href="https://a.example">never closed', "never closed (https://a.example)"],
  ['<img alt="Logo &amp; co" src="x"><img src="pixel">', "Logo & co"],
  // Tables.
  ["<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "A B\n1 2"],
  ["<table><tr><td><table><tr><td><p>a</p></td></tr></table></td></tr></table>b", "a\n\nb"],
  // Hidden elements.
  ["<head><title>t</title><style>p{}</style></head><script>x</script><body>a</body>", "a"],
  ["<head><meta charset=utf-8><body>head was never closed", "head was never closed"],
  ['<div style="color:red; DISPLAY : none">preview <div>x</div></div>a', "a"],
  ["<span hidden>x</span><span style='display:none'>y</span>a<br style='display:none'>b", "ab"],
  ["<!-- c --><!--[if mso]><p>Outlook</p><![endif]-->a<![if !mso]>b<![endif]>", "ab"],
  ["<STYLE>x</STYLE><P>A</P><BR>B", "A\n\nB"],
  ["\uFDD3a&#xFDD4;b&#64976;c&#6&#xFDD0;4976;", "\uFFFDa\uFFFDb\uFFFDc\u0006\uFFFD4976;"],
])("converts %j to %j", (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

const markup = fc.constantFrom(
  "<p>",
  "</p>",
  "<br>",
  "<ul>",
  "<li>",
  "</ul>",
  "<a href='x'>",
  "</a>",
  "<div hidden>",
  "</div>",
  "<td>",
  "<pre>",
  "</pre>",
  "<head>",
  "<body>",
  "<!--",
  "-->",
  " ",
  "\n",
  "a",
  "&lt;",
  "<",
  "<svg>",
);

test("converts any markup to text without blank edges or runs of empty lines", () => {
  fc.assert(
    fc.property(fc.array(markup, { maxLength: 40 }), (parts) => {
      const text = htmlToText(parts.join(""));
      expect(text).toBe(text.trim());
      expect(text).not.toMatch(/[\uFDD0-\uFDEF]/);
      expect(text).not.toMatch(/\n{3}| \n/);
    }),
  );
});

test("handles as many blocks in one comment as fit into a body", () => {
  const blocks = `${CONTROL}1${PLACEHOLDER_END}`.repeat(400_000);
  expect(markedText(`<!--${blocks}-->`)).toBe(blocks);
});
