// Tests the shell command of a logged request.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCurl } from "./as-curl.ts";

/** Returns the arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { POSTLOFT_SECRET_KEY: "sk_test", POSTLOFT_PUBLIC_KEY: "pk_test" };
  return execFileSync("/bin/sh", ["-c", script], { env, encoding: "utf8" }).split("\0").slice(0, -1);
}

test("passes the method, address, key and body unchanged through a shell", () => {
  const body = { event: "it's $HOME `id`", data: { plan: "[text of 3]" } };
  const request = { method: "POST", path: "/v1/track", key: "public", body };
  const [, method, url, , authorization, , type, , sent] = argumentsOf(
    asCurl(request, "https://mail.example.com"),
  );
  expect([method, url, authorization, type]).toEqual([
    "POST",
    "https://mail.example.com/v1/track",
    "Authorization: Bearer pk_test",
    "Content-Type: application/json",
  ]);
  expect(JSON.parse(sent ?? "")).toEqual(body);
});

test("sends no body and no method with GET, and uses the secret key for scoped keys", () => {
  const request = { method: "GET", path: "/contacts/x'y", key: "0199", body: null };
  expect(argumentsOf(asCurl(request, "http://localhost:3000"))).toEqual([
    "http://localhost:3000/contacts/x'y",
    "-H",
    "Authorization: Bearer sk_test",
  ]);
});
