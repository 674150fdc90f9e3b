// Tests that the code and settings of each program have the project's values and the right encryption.
import { describe, expect, test } from "vitest";
import { plainSenderOf, smtpSnippetsOf, type SmtpAccess } from "./smtp-snippets.ts";

const ACCESS: SmtpAccess = {
  host: "mail.example.com",
  port: 2587,
  encryption: "starttls",
  user: "0190f5c2-0000-7000-8000-000000000001",
  password: "YOUR_SCOPED_KEY",
  sender: "hello@shop.example",
};
const NAMES = Object.keys(smtpSnippetsOf(ACCESS));
const of = (name: string, encryption: SmtpAccess["encryption"]) =>
  smtpSnippetsOf({ ...ACCESS, encryption })[name] ?? "";

describe.each(["tls", "starttls", "none"] as const)("with encryption %s", (encryption) => {
  test.for(NAMES)("%s gets host, port, user, password and sender", (name) => {
    const snippet = of(name, encryption);
    const { host, port, user, password, sender } = ACCESS;
    for (const value of [host, String(port), user, password, sender]) expect(snippet).toContain(value);
  });
});

test.for(NAMES.filter((name) => name !== "Supabase"))("%s differs between TLS and STARTTLS", (name) => {
  expect(of(name, "tls")).not.toBe(of(name, "starttls"));
});

/** Supabase and Auth.js take STARTTLS whenever a server offers it, and so does Go. */
test.for(NAMES.filter((name) => !["Supabase", "Auth.js", "Go", "Laravel"].includes(name)))(
  "%s requires STARTTLS only with a certificate",
  (name) => {
    expect(of(name, "starttls")).not.toBe(of(name, "none"));
  },
);

test.for([
  ["hello@shop.example", "hello@shop.example"],
  ["Pat O'Neil <pat@shop.example>", "pat@shop.example"],
  [`"Pat" <o'neil@shop.example>`, "hello@shop.example"],
  ["a#{b}@shop.example", "hello@shop.example"],
])("uses of the sender %s an address that no quote breaks", ([sender = "", address]) => {
  expect(plainSenderOf(sender)).toBe(address);
});
