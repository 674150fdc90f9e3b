// Checks the language of account emails: from the browser, from the dashboard, or of the project for invited people.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as members from "@postloft/contract/members.ts";
import * as users from "@postloft/contract/users.ts";
import { acceptedLanguage, mailLanguageOf } from "../emails/platform-email/mail-language.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { accountMail } from "./account-mails.ts";
import { EN } from "./mail-texts/en.ts";

const server = useTestServer({ ROLES: "api" });

const lastTo = async (to: string) => (await readPlatformEmails(server.pool, { to, subject: /./ })).at(-1);

test("chooses the available language that a browser prefers, otherwise English", () => {
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

test("writes in the browser's language and, once chosen, in another one", async () => {
  const person = { email: "hedy@example.com", password: "correct horse battery staple" };
  const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };
  const { headers: responded } = await server.call(users.signUp, { headers }, { body: person });
  expect(await lastTo(person.email)).toMatchObject({
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    html: expect.stringContaining('<html lang="de">'),
  });
  const cookie = responded.getSetCookie()[0]?.split(";")[0] ?? "";
  const chosen = await server.call(users.updateMe, { cookie }, { body: { language: "fr" } });
  expect(chosen.body).toMatchObject({ email: person.email, language: "fr" });
  const refused = await server.call("PATCH", "/users/@me", { cookie }, { language: "tlh" });
  expect(refused.status).toBe(422);
  await server.rows("update users set verified_at = now() where email = $1", person.email);
  await server.call(account.requestPasswordReset, {}, { body: { email: person.email } });
  expect((await lastTo(person.email))?.subject).toBe("Réinitialisez votre mot de passe");
});

test("invites people without an account in the language of the project", async () => {
  const { id, bySession } = await server.createProject();
  await server.rows("update projects set language = 'es-MX' where id = $1", id);
  const invited = { email: "nueva@example.com", role: "MEMBER" };
  expect(
    (await server.call(members.addMember, bySession, { params: { projectId: id }, anyBody: invited })).status,
  ).toBe(201);
  expect((await lastTo(invited.email))?.subject).toBe("Invitación a A project");
});

test("every language has different texts for each email and names the account", () => {
  const languages = ["en", "de", "fr", "es"] as const;
  const place = { ip: "192.0.2.1", device: "Firefox, Linux" };
  const about = { email: "ada@example.com", newEmail: "lovelace@example.com", name: "<Laptop>" };
  const asked = { place, hours: "24", minutes: "60", at: "today" };
  const facts = { ...about, ...asked, resetUrl: "https://mail.example/reset", service: "GitHub" };
  for (const kind of Object.keys(EN) as Array<keyof typeof EN>) {
    const mails = languages.map((language) =>
      accountMail({ email: "ada@example.com", language }, (texts) => texts[kind](facts)),
    );
    expect([kind, new Set(mails.map(({ subject }) => subject)).size]).toEqual([kind, languages.length]);
    for (const { text, html } of mails) {
      expect(text).toContain("ada@example.com");
      expect(html).not.toContain("<Laptop>");
    }
  }
});
