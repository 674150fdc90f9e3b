// Names of credentials are told from other names, in query parameters and in bodies.
import { expect, test } from "vitest";
import { findCredential, isCredentialName } from "./credential-names.ts";

test.for([
  "token",
  "KEY",
  "api_key",
  "apiKey",
  "apikey",
  "X-Client-Secret",
  "accessToken",
  "signature",
  "sig",
  "db.password",
  "Authorization",
])("%s is the name of a credential", (name) => {
  expect(isCredentialName(name)).toBe(true);
});

test.for(["", "monkey", "keyboard", "author", "id", "passwordless", "design"])(
  "%s is not the name of a credential",
  (name) => {
    expect(isCredentialName(name)).toBe(false);
  },
);

test.for([
  ["a literal", { a: 1, auth: { token: "x" } }, "auth.token"],
  ["a literal in a list", { keys: 1, token: ["x"] }, "token.0"],
  ["a list of objects", [{ ok: true }, { password: "x" }], "1.password"],
  ["a template", { token: "{{data.token}}" }, null],
  ["an empty text and other values", { token: "", key: 7, secret: null, password: {} }, null],
  ["no body", undefined, null],
  ["a text", "token=x", null],
] as const)("the credential in %s is found", ([, body, path]) => {
  expect(findCredential(body)).toBe(path);
});

test("a large body is searched within bounds", () => {
  const body = { many: Array.from({ length: 50_000 }, () => ({ a: 1 })), token: "x" };
  expect(findCredential(body)).toBe("token");
  expect(findCredential({ many: { ...body.many, token: "x" } })).toBeNull();
});
