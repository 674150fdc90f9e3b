// Tests the second factor: required at each sign-in once enabled, each code works once, guesses are limited, disabling needs password and
// code.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as secondFactor from "@postloft/contract/second-factor.ts";
import * as users from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { fromBase32 } from "../../testing/base32.ts";
import { holdRow } from "../../testing/hold-row.ts";
import { cookieOf, errorOf, inOneWindow, useTestServer, type TestPerson } from "../../testing/test-server.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import { codeAt, stepOf, toBase32 } from "./totp.ts";

const server = useTestServer({ ROLES: "api" });
const STEP_MS = 30_000;

const ask = <Body = ErrorEnvelope>(person: TestPerson, path: string, body: object) =>
  server.call<Body>("POST", `/users/@me/second-factor${path}`, { cookie: person.cookie }, body);
const logIn = ({ email, password }: TestPerson, code?: string) =>
  server.call(users.logIn, {}, { body: { email, password, ...(code === undefined ? {} : { code }) } });
const state = async ({ cookie }: TestPerson) =>
  (
    await server.call(secondFactor.getSecondFactor, {
      cookie,
    })
  ).body;

interface App {
  person: TestPerson;
  codes: string[];
  /** Returns the code that many steps from now. */
  code(steps: number): string;
}

/** Creates a user with the second factor enabled by this step's code; the next step's code is still unused. */
async function withFactor(): Promise<App> {
  const person = await server.signUp();
  const begun = await ask<{ secret: string; uri: string }>(person, "", { currentPassword: person.password });
  const secret = fromBase32(begun.body.secret);
  expect(begun.body.uri).toBe(
    `otpauth://totp/Postloft:${encodeURIComponent(person.email)}?secret=${begun.body.secret}&issuer=Postloft`,
  );
  const code = (steps: number) => codeAt(secret, Math.floor(Date.now() / STEP_MS) + steps);
  const confirmed = await ask<{ recoveryCodes: string[] }>(person, "/confirm", { code: code(0) });
  expect(confirmed.status).toBe(200);
  return { person, codes: confirmed.body.recoveryCodes, code };
}

test("accepts the codes of RFC 6238, appendix B, one step before and after", () => {
  const secret = Buffer.from("12345678901234567890");
  const vectors = [
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ] as const;
  expect(codeAt(secret, 1)).toBe("287082");
  for (const [seconds, code] of vectors) {
    expect(codeAt(secret, Math.floor(seconds / 30))).toBe(code);
    for (const drift of [-30, 0, 30])
      expect(stepOf(secret, code, (seconds + drift) * 1_000)).toBe(Math.floor(seconds / 30));
    for (const drift of [-90, 90]) expect(stepOf(secret, code, (seconds + drift) * 1_000)).toBeNull();
  }
  expect(fromBase32(toBase32(secret))).toEqual(secret);
});

test("is off until a code confirms it, then ends other sessions and requires a code each time", async () => {
  const person = await server.signUp();
  const other = cookieOf(await logIn(person));
  const begin = <Body = ErrorEnvelope>(currentPassword: string) => ask<Body>(person, "", { currentPassword });
  expect(errorOf(await begin("not the password"))).toBe("401 INVALID_CREDENTIALS");
  const { secret: first } = (await begin<{ secret: string }>(person.password)).body;
  const { secret: second } = (await begin<{ secret: string }>(person.password)).body;
  expect((await logIn(person)).status).toBe(200);
  expect((await state(person)).isOn).toBe(false);
  const now = Math.floor(Date.now() / STEP_MS);
  const early = codeAt(fromBase32(first), now);
  expect(errorOf(await ask(person, "/confirm", { code: early }))).toBe("401 INVALID_CREDENTIALS");
  const code = codeAt(fromBase32(second), now);
  expect((await ask(person, "/confirm", { code })).status).toBe(200);
  expect((await server.call(users.getMe, { cookie: other })).status).toBe(401);
  expect((await server.call(users.getMe, { cookie: person.cookie })).status).toBe(200);
  expect(await state(person)).toMatchObject({ isOn: true, recoveryCodesLeft: 10 });

  expect(errorOf(await logIn(person))).toBe("401 SECOND_FACTOR_REQUIRED");
  expect(errorOf(await logIn({ ...person, password: "wrong password" }))).toBe("401 INVALID_CREDENTIALS");
  // Used for confirming.
  expect(errorOf(await logIn(person, code))).toBe("401 INVALID_CREDENTIALS");
  const next = codeAt(fromBase32(second), now + 1);
  const both = await Promise.all([logIn(person, next), logIn(person, next)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
  expect(errorOf(await begin(person.password))).toBe("409 CONFLICT");
  const stored = await server.rows<{ row: string }>("select f::text as row from second_factors f");
  expect(JSON.stringify(stored)).not.toContain(second);
  const subject = /^Two-factor authentication is on$/;
  const mails = await readPlatformEmails(server.pool, { to: person.email, subject });
  expect(mails).toHaveLength(1);
});

test("a recovery code works once in any notation, and new codes replace old ones", async () => {
  const { person, codes, code } = await withFactor();
  const [first = "", second = ""] = codes;
  expect(codes).toHaveLength(10);
  expect((await logIn(person, first.toUpperCase().replaceAll("-", " "))).status).toBe(200);
  expect(errorOf(await logIn(person, first))).toBe("401 INVALID_CREDENTIALS");
  expect((await state(person)).recoveryCodesLeft).toBe(9);
  const { person: another } = await withFactor();
  expect(errorOf(await logIn(another, second))).toBe("401 INVALID_CREDENTIALS");
  const renewed = await ask<{ recoveryCodes: string[] }>(person, "/recovery-codes", {
    currentPassword: person.password,
    code: code(1),
  });
  expect(renewed.status).toBe(200);
  expect(errorOf(await logIn(person, second))).toBe("401 INVALID_CREDENTIALS");
  expect((await logIn(person, renewed.body.recoveryCodes[0])).status).toBe(200);
});

test("disabling needs password and code, and a password reset does not bypass it", async () => {
  const { person, codes, code } = await withFactor();
  await server.prove(person);
  await server.call(account.requestPasswordReset, {}, { body: { email: person.email } });
  const mail = (await readPlatformEmails(server.pool, { to: person.email })).at(-1);
  const token = /reset-password\/([A-Za-z0-9_-]+)/.exec(mail?.text ?? "")?.[1];
  const password = "quite another password";
  expect(
    (await server.call("POST", "/auth/reset-password", {}, { token, newPassword: password })).status,
  ).toBe(200);
  const renewed = { ...person, password };
  expect(errorOf(await logIn(renewed))).toBe("401 SECOND_FACTOR_REQUIRED");
  const cookie = cookieOf(await logIn(renewed, codes[0]));
  const end = (body: object) => ask({ ...renewed, cookie }, "/end", body);
  expect(errorOf(await end({ currentPassword: "wrong password", code: code(1) }))).toBe(
    "401 INVALID_CREDENTIALS",
  );
  expect(errorOf(await end({ currentPassword: password, code: "000000" }))).toBe("401 INVALID_CREDENTIALS");
  expect((await end({ currentPassword: password, code: codes[1] })).status).toBe(204);
  expect((await logIn(renewed)).status).toBe(200);
  expect(errorOf(await end({ currentPassword: password, code: codes[2] }))).toBe("409 CONFLICT");
});

test("limits code guesses across all networks together", async () => {
  await inOneWindow(server, 600, async () => {
    const { person, code } = await withFactor();
    for (let guess = 0; guess < LIMITS.codeFailures.value; guess++)
      expect(errorOf(await logIn(person, "000000"))).toBe("401 INVALID_CREDENTIALS");
    expect(errorOf(await logIn(person, code(1)))).toBe("429 RATE_LIMIT_EXCEEDED");
  });
});

test("enables or disables nothing when the session ended during the check", async () => {
  const { person, code } = await withFactor();
  const other = await server.signUp();
  const begun = await ask<{ secret: string }>(other, "", { currentPassword: other.password });
  const first = codeAt(fromBase32(begun.body.secret), Math.floor(Date.now() / STEP_MS));
  const late = (one: TestPerson, path: string, body: object) =>
    holdRow(
      server.pool,
      ["select 1 from users where id = $1", one.id],
      () => [ask(one, path, body)],
      (client) => client.query("delete from sessions where user_id = $1", [one.id]),
    );
  const { password: currentPassword } = person;
  const replies = [
    ...(await late(other, "/confirm", { code: first })),
    ...(await late(person, "/end", { currentPassword, code: code(1) })),
  ];
  expect(replies.map(errorOf)).toEqual(["401 UNAUTHORIZED", "401 UNAUTHORIZED"]);
  expect((await logIn(other)).status).toBe(200);
  expect(errorOf(await logIn(person))).toBe("401 SECOND_FACTOR_REQUIRED");
});
