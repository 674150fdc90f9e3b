// Checks that tokens identify an email and its link, and that forged tokens are rejected.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { signedLink } from "../../rendering/link-target.ts";
import { createMailTokens } from "./mail-tokens.ts";

const tokens = createMailTokens("a secret", () => "https://m.example");
const [projectId, emailId] = [newId(), newId()];
const mail = tokens.trackingOf(projectId, emailId);
const token = mail.clickUrl.slice("https://m.example/c/".length);
const TARGET = "https://a.example/?a=1&b=2";
const signed = new URL(signedLink(mail, 7, TARGET) ?? "");
const signedToken = signed.pathname.slice("/c/".length);

test("a pixel identifies its email with and without the file extension", () => {
  expect(mail.pixelUrl).toBe(`https://m.example/o/${token}.gif`);
  expect([token, `${token}.gif`].map(tokens.readPixel)).toEqual([
    { projectId, emailId },
    { projectId, emailId },
  ]);
});

test("a link identifies its email and number and proves its own target", () => {
  expect(tokens.readLink(`${token}1s`, undefined)).toEqual({
    projectId,
    emailId,
    number: 64,
    signedTarget: null,
  });
  expect(tokens.readLink(signedToken, signed.searchParams.get("u"))).toEqual({
    projectId,
    emailId,
    number: 7,
    signedTarget: TARGET,
  });
});

test("tokens are short, contain no personal data, and are the same for every attempt", () => {
  expect(token).toMatch(/^[\w-]{56}$/);
  expect(tokens.trackingOf(projectId, emailId)).toEqual(mail);
  expect(
    createMailTokens("another secret", () => "https://m.example").trackingOf(projectId, emailId),
  ).not.toEqual(mail);
});

const other = tokens.trackingOf(projectId, newId());
const otherToken = other.clickUrl.slice(-56);
const foreign = tokens.trackingOf(newId(), emailId).clickUrl.slice(-56);
const signature = signedToken.slice(-12);

test.each([
  ["nothing", "", undefined],
  ["a token without a link", token, undefined],
  ["a link with variables without its address", `${token}7`, undefined],
  ["the same with an address, but no signature", `${token}7`, TARGET],
  ["another address", signedToken, "https://evil.example"],
  ["an address that begins the same", signedToken, `${TARGET}&c=3`],
  ["no address", signedToken, undefined],
  ["two addresses", signedToken, [TARGET, TARGET]],
  ["the signature of another number", `${token}9.${signature}`, TARGET],
  ["the signature of another mail", `${otherToken}7.${signature}`, TARGET],
  ["the mail of another project", `${foreign.slice(0, 42)}${token.slice(42)}2`, undefined],
  ["a number written otherwise", `${token}02`, undefined],
  ["a number that is none", `${token}Z`, undefined],
  ["a number too large", `${token}1000000`, undefined],
  ["something behind it", `${token}2x.`, undefined],
  ["a token in another alphabet", `${token.slice(0, 55)}+2`, undefined],
])("rejects as a link: %s", (_, forged, target) => {
  expect(tokens.readLink(forged, target)).toBeNull();
});

test("rejects a token with any changed letter", () => {
  fc.assert(
    fc.property(fc.nat(55), fc.constantFrom(..."ABCXYZabcxyz0189-_"), (at, letter) => {
      fc.pre(token[at] !== letter);
      const changed = token.slice(0, at) + letter + token.slice(at + 1);
      expect([tokens.readPixel(changed), tokens.readLink(`${changed}2`, undefined)]).toEqual([null, null]);
    }),
  );
});
