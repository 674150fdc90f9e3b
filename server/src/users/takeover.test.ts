// One account per address when email leaves the machine: no one can reserve an address, take over an account or find out which addresses
// have one.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as membersContract from "@postloft/contract/members.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as users from "@postloft/contract/users.ts";
import { transaction } from "../platform/database/database.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { cookieOf, errorOf, useTestServer } from "../testing/test-server.ts";
import { enterAs } from "./oauth/identities.ts";
import { createUser } from "./users.ts";

// Nothing listens on this port, so sent emails wait and can be read.
const server = useTestServer({ ROLES: "api", MAIL_TRANSPORT: "smtp://127.0.0.1:9" });
const PASSWORD = "correct horse battery staple";
let made = 0;
const newAddress = () => `victim${++made}@example.com`;

const post = <Body>(path: string, body: object, headers: Record<string, string> = {}) =>
  server.call<Body>("POST", path, { headers }, body);
const requestSignUp = (email: string, more: object = {}) =>
  server.call(users.signUp, {}, { body: { email, ...more } });
const requestReset = (email: string) => server.call(account.requestPasswordReset, {}, { body: { email } });
const complete = (token: string, password = PASSWORD) =>
  server.call(users.completeSignUp, {}, { body: { token, password } });
const refusedCompletion = async (token: string) =>
  errorOf(await server.call(users.completeSignUp, {}, { body: { token, password: PASSWORD } }));
const logIn = (email: string, password = PASSWORD) =>
  server.call(users.logIn, {}, { body: { email, password } });
const mailsTo = (email: string) => readPlatformEmails(server.pool, { to: email, subject: /./ });
const accountsOf = (email: string) =>
  server.rows<{ id: string }>("select id from users where email = $1", email);
/** Moves the clock forward an hour. */
const nextHour = () => server.rows("delete from rate_windows");

/** Returns the token of the newest link to an address; empty if the newest email has none. */
async function tokenTo(email: string): Promise<string> {
  const text = (await mailsTo(email)).at(-1)?.text ?? "";
  return /\/(?:account\/[a-z-]+|app\/invitations)\/([A-Za-z0-9_-]{43})/.exec(text)?.[1] ?? "";
}

/** An account with an address that was never confirmed, created before email left the machine. */
const squat = (email: string) =>
  transaction(server.database, (tx) => createUser(tx, { email, passwordHash: "known to the squatter" }));

const oauthAs = (email: string, subject = email) =>
  transaction(server.database, (tx) =>
    enterAs(tx, {
      person: { issuer: "https://id.example", subject, email },
      title: "Our directory",
      mayBeNew: async () => true,
      language: "en",
    }),
  );

test("a sign-up returns the same for every address, opens no session and creates nothing", async () => {
  const [known, unconfirmed, unknown] = [await server.signUp(), newAddress(), newAddress()];
  await server.prove(known);
  await squat(unconfirmed);
  const agent = { "user-agent": "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Buy now at evil.example" };
  const replies = [];
  for (const email of [known.email, unconfirmed, unknown])
    replies.push(await post("/auth/signup", { email, password: PASSWORD }, agent));
  for (const { status, text, headers } of replies)
    expect([status, text, headers.getSetCookie()]).toEqual([202, replies[0]?.text, []]);
  expect(await accountsOf(unknown)).toEqual([]);
  const [toKnown, toUnconfirmed, toUnknown] = await Promise.all(
    [known.email, unconfirmed, unknown].map(async (email) => (await mailsTo(email)).at(-1)),
  );
  expect(toUnknown?.text).toContain("/account/sign-up/");
  for (const mail of [toKnown, toUnconfirmed]) {
    expect(mail?.subject).toBe("You already have a Postloft account");
    expect(mail?.text).toMatch(/\/app\/sign-in[^]*|\/app\/forgotten-password/);
    expect(mail?.text).not.toContain("/account/sign-up/");
  }
  for (const mail of [toKnown, toUnknown]) {
    expect(mail?.text).toContain("Chrome, Windows, IP address 127.0.0.1");
    expect(mail?.text).not.toContain("evil");
  }
});

test("the link creates the account with the password chosen there and signs in", async () => {
  const email = newAddress();
  // A stranger asks first, with their own password.
  await requestSignUp(email, { password: "the password of a stranger" });
  const token = await tokenTo(email);
  expect((await complete(token, "password123")).status).toBe(422);
  const reply = await complete(token);
  expect(reply.status).toBe(200);
  expect((await server.call(users.getMe, { cookie: cookieOf(reply) })).status).toBe(200);
  expect([(await logIn(email, "the password of a stranger")).status, (await logIn(email)).status]).toEqual([
    401, 200,
  ]);
  const { body } = await server.call(projects.listProjects, { cookie: cookieOf(reply) });
  expect(body).toEqual([]);
  const rows = await server.rows("select verified_at is not null as is from users where email = $1", email);
  expect(rows).toEqual([{ is: true }]);
});

test("a link works once in one of several browsers, and not after a newer one was sent", async () => {
  const email = newAddress();
  await requestSignUp(email);
  const first = await tokenTo(email);
  await nextHour();
  await requestSignUp(email);
  const second = await tokenTo(email);
  expect(second).not.toBe(first);
  expect(await refusedCompletion(first)).toBe("400 TOKEN_INVALID");
  const replies = await Promise.all(Array.from({ length: 5 }, () => complete(second)));
  const statuses = replies.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([200, 400, 400, 400, 400]);
  expect(await refusedCompletion(second)).toBe("400 TOKEN_INVALID");
  expect(await accountsOf(email)).toHaveLength(1);
});

test("the link page works without scripts, changes nothing on GET and opens no session", async () => {
  const email = newAddress();
  await requestSignUp(email);
  const path = `/account/sign-up/${await tokenTo(email)}`;
  const submit = (password: string) =>
    fetch(`${server.url}${path}`, { method: "POST", body: new URLSearchParams({ password }) });
  const shown = await fetch(`${server.url}${path}`);
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('name="password"')]);
  expect(await accountsOf(email)).toEqual([]);
  expect((await submit("short")).status).toBe(422);
  expect((await submit("1234567890")).status).toBe(422);
  const done = await submit(PASSWORD);
  expect([done.status, done.headers.getSetCookie()]).toEqual([200, []]);
  expect(await done.text()).toContain("/app/sign-in");
  expect((await submit(PASSWORD)).status).toBe(400);
  expect((await logIn(email)).status).toBe(200);
});

test("strangers cause one email per hour and purpose and don't block the owner's link", async () => {
  const email = newAddress();
  const signUps = await Promise.all(Array.from({ length: 5 }, () => requestSignUp(email)));
  expect(new Set(signUps.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await mailsTo(email)).toHaveLength(1);
  expect((await complete(await tokenTo(email))).status).toBe(200);
  const resets = await Promise.all(Array.from({ length: 5 }, () => requestReset(email)));
  expect(resets.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(await mailsTo(email)).toHaveLength(2);
  const reset = async () =>
    (
      await post("/auth/reset-password", {
        token: await tokenTo(email),
        newPassword: "a new password of mine",
      })
    ).status;
  expect(await reset()).toBe(200);
  // A user who used the link may request another.
  await requestReset(email);
  expect(await reset()).toBe(200);
});

test("a concurrent invitation and sign-up of one address create one account", async () => {
  const project = await server.createProject();
  await server.prove(project.owner);
  for (let round = 0; round < 3; round++) {
    const email = newAddress();
    const members = `/projects/${project.id}/members`;
    await server.call("POST", members, { cookie: project.owner.cookie }, { email });
    const invitation = await tokenTo(email);
    await requestSignUp(email);
    const signUp = await tokenTo(email);
    const replies = await Promise.all([
      server.call(
        membersContract.signUpInvited,
        {},
        { params: { token: invitation }, body: { password: PASSWORD } },
      ),
      server.call(users.completeSignUp, {}, { body: { token: signUp, password: PASSWORD } }),
    ]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await accountsOf(email)).toHaveLength(1);
    const [invited] = replies;
    // A user who signed up accepts with that account; an invited one has already joined.
    const cookie = cookieOf(replies.find(({ status }) => status === 200) ?? invited);
    await server.call(membersContract.acceptInvitation, { cookie }, { params: { token: invitation } });
    expect((await server.call(contacts.listContacts, { cookie, projectId: project.id })).status).toBe(200);
  }
});

test("another service and a sign-up share one account, in either order and concurrently", async () => {
  const [first, second, both] = [newAddress(), newAddress(), newAddress()];
  await requestSignUp(first);
  const owner = await oauthAs(first);
  expect(await refusedCompletion(await tokenTo(first))).toBe("409 CONFLICT");
  expect((await logIn(first)).status).toBe(401);
  await requestSignUp(second);
  const created = await complete(await tokenTo(second));
  expect((await oauthAs(second)).id).toBe(created.body.data.id);
  await requestSignUp(both);
  const token = await tokenTo(both);
  const [one, two, reply] = await Promise.all([oauthAs(both), oauthAs(both), complete(token)]);
  expect([200, 409]).toContain(reply.status);
  expect((await accountsOf(both)).map(({ id }) => id)).toEqual([one.id]);
  expect(two.id).toBe(one.id);
  expect((await accountsOf(first)).map(({ id }) => id)).toEqual([owner.id]);
});

test("links, invitations and other services never open an account with unconfirmed address", async () => {
  const project = await server.createProject();
  await server.prove(project.owner);
  const email = newAddress();
  const squatter = await squat(email);
  await requestSignUp(email);
  await requestReset(email);
  expect(await server.rows("select purpose from account_tokens where user_id = $1", squatter.id)).toEqual([]);
  expect((await mailsTo(email)).map(({ subject }) => subject)).toEqual([
    "You already have a Postloft account",
    "Your password can't be reset by email",
  ]);
  await expect(oauthAs(email)).rejects.toThrow("never confirmed");
  await server.call(
    membersContract.addMember,
    { cookie: project.owner.cookie },
    { params: { projectId: project.id }, body: { email } },
  );
  const invitation = await tokenTo(email);
  const refused = await server.call(
    membersContract.signUpInvited,
    {},
    { params: { token: invitation }, body: { password: PASSWORD } },
  );
  expect(errorOf(refused)).toBe("409 CONFLICT");
  expect((await accountsOf(email)).map(({ id }) => id)).toEqual([squatter.id]);
});

test("a confirmation says who asked, from where and why, and only confirms", async () => {
  const person = await server.signUp();
  const { cookie } = person;
  await server.call(account.requestVerification, { cookie });
  expect((await mailsTo(person.email)).at(-1)?.text).toContain(
    `The account ${person.email} asked to confirm`,
  );
  const confirmed = await post("/auth/verify-email", { token: await tokenTo(person.email) });
  expect([confirmed.status, confirmed.headers.getSetCookie()]).toEqual([200, []]);
  const newEmail = newAddress();
  await server.call(account.changeEmail, { cookie }, { body: { currentPassword: PASSWORD, newEmail } });
  const [mail] = await mailsTo(newEmail);
  expect(mail?.text).toContain(
    `The Postloft account ${person.email} asked to change its email address to ${newEmail}`,
  );
  expect(mail?.text).toContain("IP address 127.0.0.1");
  // The address gets an account before the link is opened.
  await requestSignUp(newEmail);
  const signUp = await tokenTo(newEmail);
  expect((await complete(signUp)).status).toBe(200);
  const change = /verify-email\/([\w-]{43})/.exec(mail?.text ?? "")?.[1];
  expect(errorOf(await server.call("POST", "/auth/verify-email", {}, { token: change }))).toBe(
    "409 CONFLICT",
  );
});

test("sends no link with DISABLE_SIGNUPS and rejects links sent before", async () => {
  const email = newAddress();
  await requestSignUp(email);
  const closed = await server.startAnother({ DISABLE_SIGNUPS: "true" });
  const token = await tokenTo(email);
  expect(errorOf(await closed.call(users.signUp, {}, { body: { email: newAddress() } }))).toBe(
    "403 SIGNUPS_DISABLED",
  );
  const body = { token, password: PASSWORD };
  expect(errorOf(await closed.call(users.completeSignUp, {}, { body }))).toBe("403 SIGNUPS_DISABLED");
  expect(await accountsOf(email)).toEqual([]);
});
