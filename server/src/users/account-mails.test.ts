// Mail about accounts in the language of whoever gets it: from the browser, from the dashboard, and of the project for whoever is invited.
import { expect, test } from "vitest";
import { acceptedLanguage, mailLanguageOf } from "../emails/system-mail/mail-language.ts";
import { readSystemMails } from "../testing/system-mails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { passkeyMail, passwordChangedMail, secondFactorMail } from "./account-mails.ts";

const server = useTestServer({ ROLES: "api" });

const lastTo = async (to: string) => (await readSystemMails(server.pool, { to, subject: /./ })).at(-1);

test("what a browser wishes most of what there is, and English where there is nothing of it", () => {
  const wishes = {
    "de-AT,de;q=0.9,en;q=0.8": "de",
    "it,fr;q=0.4,es;q=0.7": "es",
    "it, pt": "en",
    "fr;q=0, de;q=x, es": "es",
    "": "en",
    [`${"it,".repeat(20)}de`]: "en",
  };
  const chosen = Object.keys(wishes).map((header) => [header, acceptedLanguage(header)]);
  expect(Object.fromEntries(chosen)).toEqual(wishes);
  expect([acceptedLanguage(undefined), mailLanguageOf("pt-BR"), mailLanguageOf("fr_CA")]).toEqual([
    "en",
    "en",
    "fr",
  ]);
});

test("an account that is made in a browser is written to in its language, and in another one once that is chosen", async () => {
  const person = { email: "hedy@example.com", password: "correct horse battery staple" };
  const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };
  const { headers: answered } = await server.call("POST", "/auth/signup", { headers }, person);
  expect(await lastTo(person.email)).toMatchObject({
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    html: expect.stringContaining('<html lang="de">'),
  });
  const cookie = answered.getSetCookie()[0]?.split(";")[0] ?? "";
  const chosen = await server.call("PATCH", "/users/@me", { cookie }, { language: "fr" });
  expect(chosen.body).toMatchObject({ email: person.email, language: "fr" });
  const refused = await server.call("PATCH", "/users/@me", { cookie }, { language: "tlh" });
  expect(refused.status).toBe(422);
  await server.call("POST", "/auth/request-password-reset", {}, { email: person.email });
  expect((await lastTo(person.email))?.subject).toBe("Choisissez un nouveau mot de passe");
});

test("whoever has no account is invited in the language of the project", async () => {
  const { id, bySession } = await server.createProject();
  await server.rows("update projects set language = 'es-MX' where id = $1", id);
  const invited = { email: "nueva@example.com", role: "MEMBER" };
  expect((await server.call("POST", `/projects/${id}/members`, bySession, invited)).status).toBe(201);
  expect((await lastTo(invited.email))?.subject).toMatch(/^person\d+@example\.com le invita a A project$/);
});

test("each language says something of its own, and names whom it is about", () => {
  const languages = ["en", "de", "fr", "es"] as const;
  const mails = languages.map((language) => {
    const told = { email: "ada@example.com", language };
    return [passwordChangedMail(told), secondFactorMail(told, true), passkeyMail(told, "<Laptop>", false)];
  });
  expect(new Set(mails.flat().map(({ subject }) => subject)).size).toBe(languages.length * 3);
  for (const { text } of mails.flat()) expect(text).toContain("ada@example.com");
  for (const [, , { html }] of mails as Array<[unknown, unknown, { html: string }]>)
    expect(html).toContain("&lt;Laptop&gt;");
});
