// Tests the SMTP name of the installation for each setting.
import { expect, test } from "vitest";
import { smtpNameOf } from "./smtp-name.ts";

test.each([
  ["mail.example.com", "https://example.org", "mail.example.com"],
  [undefined, "https://post.example.org:8443/base", "post.example.org"],
  [undefined, "http://192.0.2.7:3000", "[192.0.2.7]"],
  [undefined, "http://[2001:db8::7]", "[IPv6:2001:db8::7]"],
  [undefined, "http://localhost:3000", "machine"],
  [undefined, "http://127.0.0.1:3000", "machine"],
  [undefined, null, "machine"],
] as const)("uses SMTP_NAME %s at %s as %s", (setting, baseUrl, name) => {
  expect(smtpNameOf(setting, baseUrl, "machine")).toBe(name);
});
