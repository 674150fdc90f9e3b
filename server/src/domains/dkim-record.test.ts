// Tests the classification of DKIM records, and whether receivers could verify our email with them.
import { expect, test } from "vitest";
import { inWords } from "@postloft/contract/dns-advice.ts";
import { dkimName, dkimValue, classifyDkim } from "./dkim-record.ts";

const KEY = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A";
/** Adds the advice in words. */
const evaluate = (...input: Parameters<typeof classifyDkim>) => {
  const evaluated = classifyDkim(...input);
  return { ...evaluated, advice: inWords(evaluated.advice) };
};
const RIGHT = `v=DKIM1; k=rsa; p=${KEY}`;

test("the record's name has the selector and its value has the key", () => {
  const key = { domain: "example.com", selector: "pl1", publicKey: KEY, kind: "rsa" as const };
  expect([dkimName(key), dkimValue(key)]).toEqual(["pl1._domainkey.example.com", RIGHT]);
});

test.for([
  ["as it was asked for", RIGHT],
  ["with nothing but the key", `p=${KEY}`],
  ["closed by a semicolon", `${RIGHT};`],
  ["without spaces", `v=DKIM1;k=rsa;p=${KEY}`],
  ["with spaces and tabs inside the key", "v=DKIM1; k=rsa; p= MIIBIjANBgkq\thkiG9w0BAQ EFAAOCAQ8A "],
  ["in another order", `v=DKIM1; p=${KEY}; k=rsa`],
  ["with tags nobody knows", `v=DKIM1; x=1; n=our key; p=${KEY}`],
  ["for signatures of the domain itself only", `v=DKIM1; p=${KEY}; t=s`],
  ["for sha256 beside others, for mail", `v=DKIM1; h=sha1:sha256; s=email; p=${KEY}`],
] as const)("finds a key %s", ([, record]) => {
  expect(evaluate([record], { publicKey: KEY, kind: "rsa" })).toEqual({ status: "FOUND", advice: null });
});

test.for([
  ["there is no record", [], "MISSING", "append the domain"],
  ["the key is revoked", ["v=DKIM1; p="], "MISMATCH", "revoked"],
  ["the key is another", [`v=DKIM1; p=${KEY}x`], "MISMATCH", "Another key"],
  ["the key is spelled in small letters", [`p=${KEY.toLowerCase()}`], "MISMATCH", "Another key"],
  ["the key is cut off", [RIGHT.slice(0, -5)], "MISMATCH", "Another key"],
  ["only the key itself was pasted", [KEY], "MISMATCH", "not a DKIM record"],
  ["the record is empty", [""], "MISMATCH", "not a DKIM record"],
  ["the record was pasted with its quotes", [`"${RIGHT}"`], "MISMATCH", "Another key"],
  ["the semicolons are escaped", [`v=DKIM1\\; k=rsa\\; p=${KEY}`], "MISMATCH", "not a DKIM record"],
  ["the version is another", [`v=DKIM2; p=${KEY}`], "MISMATCH", "not a DKIM record"],
  ["the version is not first", [`k=rsa; p=${KEY}; v=DKIM1`], "MISMATCH", "not a DKIM record"],
  ["a tag is there twice", [`v=DKIM1; p=${KEY}; p=${KEY}`], "MISMATCH", "not a DKIM record"],
  ["the key is for another algorithm", [`v=DKIM1; k=ed25519; p=${KEY}`], "MISMATCH", "forbid"],
  ["the hash is one we do not use", [`v=DKIM1; h=sha1; p=${KEY}`], "MISMATCH", "forbid"],
  ["the key is not for mail", [`v=DKIM1; s=other; p=${KEY}`], "MISMATCH", "forbid"],
  ["there is another record", ["v=spf1 -all", RIGHT], "FOUND", "2 TXT records"],
  ["the key is only tried out", [`${RIGHT}; t=y:s`], "FOUND", "t=y"],
] as const)("gives advice when %s", ([, records, status, advice]) => {
  expect(evaluate(records, { publicKey: KEY, kind: "rsa" })).toEqual({
    status,
    advice: expect.stringContaining(advice),
  });
});

test("gives no advice while DNS has not answered", () => {
  expect(evaluate(undefined, { publicKey: KEY, kind: "rsa" })).toEqual({
    status: "UNCHECKED",
    advice: null,
  });
});

test("an Ed25519 record declares its type because RSA is the default", () => {
  const key = { publicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", kind: "ed25519" } as const;
  expect(evaluate([dkimValue(key)], key).status).toBe("FOUND");
  for (const k of ["", "k=rsa; "])
    expect(evaluate([`v=DKIM1; ${k}p=${key.publicKey}`], key)).toMatchObject({
      status: "MISMATCH",
      advice: expect.stringContaining("forbid"),
    });
});
