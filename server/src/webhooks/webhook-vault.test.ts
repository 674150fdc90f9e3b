// Credentials in URLs are encrypted where they are stored, and every other character of the URL stays.
import { expect, test } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { createWebhookVault, listMaskedParameters, maskUrl } from "./webhook-vault.ts";

const PROJECT = "p1";
const MASK = "••••";
const vault = createWebhookVault(createSealer("a secret that is long enough"));
const seal = (url: string, stored?: string) => vault.sealUrl(PROJECT, url, stored);
const open = (url: string) => vault.openUrl(PROJECT, url);

test.for([
  ["https://a.example/h?token=abc", `https://a.example/h?token=${MASK}`],
  ["https://a.example/h?id=7&api_key=a%20b&x=#key=1", `https://a.example/h?id=7&api_key=${MASK}&x=#key=1`],
  ["https://a.example/h?key=1&key=2&KEY=3", `https://a.example/h?key=${MASK}&key=${MASK}&KEY=${MASK}`],
  ["https://a.example/h?to%6ben=a=b", `https://a.example/h?to%6ben=${MASK}`],
  ["https://a.example/h?%zz=1&secret=x", `https://a.example/h?%zz=1&secret=${MASK}`],
  ["https://a.example/h?token=&token&page=2", "https://a.example/h?token=&token&page=2"],
  ["https://a.example/token=x", "https://a.example/token=x"],
  ["not a url", "not a url"],
  [
    "https://hooks.slack.example/services/T0123456/B0123456/aB3dE5gH7jK9mN1pQ3sT5vX7",
    `https://hooks.slack.example/services/T0123456/B0123456/${MASK}`,
  ],
  [
    `https://api.telegram.example/bot${"1".repeat(9)}:AA-b2_c/sendMessage?x=1`,
    `https://api.telegram.example/${MASK}/sendMessage?x=1`,
  ],
  ["https://hook.make.example/abcdefgh12345678abcdefgh12345678", `https://hook.make.example/${MASK}`],
  [
    "https://a.example/users/0190f6a4-1c2d-7e3f-8a9b-0c1d2e3f4a5b/new-customer-signed-up-2024/v2beta1-of-the-interface",
    "https://a.example/users/0190f6a4-1c2d-7e3f-8a9b-0c1d2e3f4a5b/new-customer-signed-up-2024/v2beta1-of-the-interface",
  ],
  ["https://a.example/{{contact.data.aB3dE5gH7jK9}}/x", "https://a.example/{{contact.data.aB3dE5gH7jK9}}/x"],
  ["https://aB3dE5gH7jK9mN1pQ3sT.example/x", "https://aB3dE5gH7jK9mN1pQ3sT.example/x"],
] as const)("%s is shown as %s, and called as it was given", ([url, shown]) => {
  const sealed = seal(url);
  expect([maskUrl(sealed), maskUrl(url), open(sealed)]).toEqual([shown, shown, url]);
  expect(sealed === url).toBe(shown === url);
});

test("a masked value keeps the stored one of its name at the same origin alone", () => {
  const stored = seal("https://a.example/h?key=1&key=2&token=t");
  const masked = `key=${MASK}&key=${encodeURIComponent(MASK)}&token=new`;
  expect(open(seal(`https://a.example/other?${masked}`, stored))).toBe(
    "https://a.example/other?key=1&key=2&token=new",
  );
  for (const host of ["https://evil.example", "http://a.example", "https://a.example:8443"])
    expect(listMaskedParameters(seal(`${host}/h?token=${MASK}`, stored))).toEqual(["token"]);
  expect(listMaskedParameters(seal(`https://a.example/h?secret=${MASK}`, stored))).toEqual(["secret"]);
});

test("a masked part of the path keeps the stored one in its order, at the same origin alone", () => {
  const [one, two] = ["aB3dE5gH7jK9mN1pQ3sT5vX7", "zY9xW7vU5tS3rQ1pN9mK7jH5"];
  const stored = seal(`https://a.example/${one}/to/${two}`);
  expect(open(seal(`https://a.example/v2/${MASK}/to/${encodeURIComponent(MASK)}?x=1`, stored))).toBe(
    `https://a.example/v2/${one}/to/${two}?x=1`,
  );
  expect(seal(`https://a.example/${one}/to/${two}`, stored)).toBe(stored);
  expect(listMaskedParameters(seal(`https://evil.example/${MASK}/to/${MASK}`, stored))).toEqual([
    "path",
    "path",
  ]);
});

test("an equal value keeps its text, also one that was stored in clear text, which is encrypted then", () => {
  const stored = seal("https://a.example/h?token=t");
  expect(seal("https://a.example/h?token=t", stored)).toBe(stored);
  expect(seal("https://a.example/h?token=u", stored)).not.toBe(stored);
  const clear = "https://a.example/h?token=t";
  const sealed = seal(maskUrl(clear), clear);
  expect([sealed.includes("token=t"), open(sealed)]).toEqual([false, clear]);
});

test("a value of another application secret is replaced, and not opened", () => {
  const other = createWebhookVault(createSealer("another secret that is long"));
  const stored = other.sealUrl(PROJECT, "https://a.example/h?token=t");
  expect(() => open(stored)).toThrow(/authenticate/);
  expect(open(seal("https://a.example/h?token=u", stored))).toBe("https://a.example/h?token=u");
});
