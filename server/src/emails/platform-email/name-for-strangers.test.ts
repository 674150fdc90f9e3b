// Names and addresses of strangers never become a link, a second line or a page of text in an email of this server.
import { expect, test } from "vitest";
import { leastCpuMs } from "../../testing/cpu-timer.ts";
import { addressForStrangers, nameForStrangers } from "./name-for-strangers.ts";

test.for([
  ["stays as it is", "Müller & Söhne, Inc.", "Müller & Söhne, Inc."],
  ["loses a URL", "Win http://evil.example/claim?x=1 now", "Win now"],
  ["loses a URL in parentheses", "Shop (HTTPS://evil.example)", "Shop"],
  ["loses a URL in compatibility characters", "Shop ｈｔｔｐ：／／evil．example", "Shop"],
  ["loses a www host", "Shop www.evil.example", "Shop"],
  ["loses an email address", "Write to ada@evil.example today", "Write to today"],
  ["loses an email address with a fullwidth at sign", "Write to ada＠evil.example", "Write to"],
  ["loses a mailto link", "mailto:ada@evil.example Shop", "Shop"],
  ["keeps a lone at sign", "Ada @ Shop", "Ada @ Shop"],
  ["gets the dots of a bare domain replaced", "evil.example/claim", "evil·example/claim"],
  [
    "gets the dots of an ideographic domain replaced",
    "evil。example evil．example evil｡example",
    "evil·example evil·example evil·example",
  ],
  ["keeps the dot of an abbreviation", "Dr. Who Ltd.", "Dr. Who Ltd."],
  ["becomes one line", "Shop\r\nBcc: x\n\n\tNext\u2028line", "Shop Bcc: x Next line"],
  ["loses control characters", "Sh\u0000o\u0007p\u007f", "Shop"],
  ["loses marks of the reading direction", "Shop\u202Egpj\u202C \u2066x\u2069\u200F", "Shopgpj x"],
  ["loses a zero-width space", "ht\u200Btp://evil.example Shop", "Shop"],
  ["keeps a joined emoji", "👩\u200D💻 Shop", "👩\u200D💻 Shop"],
  ["of 40 characters stays whole", "a".repeat(40), "a".repeat(40)],
  ["of 41 characters is shortened", "a".repeat(41), `${"a".repeat(39)}…`],
  ["is shortened between characters", "😀".repeat(41), `${"😀".repeat(39)}…`],
  ["ends without a space before the ellipsis", `${"a".repeat(38)} bcd`, `${"a".repeat(38)}…`],
  ["is Postloft when it was empty", " \u200B\n ", "Postloft"],
  ["is Postloft when it was only a URL", "https://evil.example", "Postloft"],
] as const)("a name %s", ([, name, shown]) => {
  expect(nameForStrangers(name)).toBe(shown);
});

const shortenAll = () => {
  for (const part of ["a.", "a@", "@", ".", "http://", "\u200B", " "])
    expect([...nameForStrangers(part.repeat(1_000_000 / part.length))].length).toBeLessThanOrEqual(40);
};

test("a name of a megabyte takes linear time", async () => {
  expect(await leastCpuMs(10_000, shortenAll)).toBeLessThan(10_000);
});

test.for([
  ["ada.lovelace+x@shop.example", "ada.lovelace+x@shop.example"],
  ["http/claim/now@evil.example", "http·claim·now@evil.example"],
  [`${"a".repeat(60)}@evil.example`, `${"a".repeat(39)}…`],
] as const)("the address %s is shown as %s", ([email, shown]) => {
  expect(addressForStrangers(email)).toBe(shown);
});
