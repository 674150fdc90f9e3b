// Tests invitations: a link creates an account and a member, once, for one address, within a limited time.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as members from "@postloft/contract/members.ts";
import * as users from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  cookieOf,
  errorOf,
  inOneWindow,
  useTestServer,
  type TestPerson,
  type TestProject,
} from "../../testing/test-server.ts";
import type { ResponseOf } from "../../testing/typed-call.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import { sweepInvitations } from "./invitations.ts";

// Sign-ups are off, so an invitation is the only way in.
const server = useTestServer({ ROLES: "api" });

type Invitation = NonNullable<ResponseOf<typeof members.addMember>["data"]["invitation"]>;

const PASSWORD = { password: "correct horse battery staple" };
let people = 0;
const newAddress = () => `invited${++people}@example.com`;

async function invite(project: TestProject, email: string, role = "MEMBER") {
  const reply = await server.call<{ data: { status: string; invitation: Invitation } }>(
    "POST",
    `/projects/${project.id}/members`,
    { cookie: project.owner.cookie },
    { email, role },
  );
  expect(reply.status).toBe(201);
  expect(reply.body.data.status).toBe("INVITED");
  const { invitation } = reply.body.data;
  return { ...invitation, token: invitation.link?.split("/").at(-1) ?? "" };
}

const list = async (project: TestProject) =>
  (await server.call(members.listInvitations, project.byKey, { params: { projectId: project.id } })).body
    .data;
const signUp = (token: string, body = PASSWORD, call = server.call) =>
  call(members.signUpInvited, {}, { params: { token }, body });
const accept = (token: string, { cookie }: TestPerson) =>
  server.call(members.acceptInvitation, { cookie }, { params: { token } });
const GONE = "404 INVITATION_NOT_FOUND";
const signUpError = async (token: string) =>
  errorOf(await server.call(members.signUpInvited, {}, { params: { token }, body: PASSWORD }));

test("an invited person creates an account with the link and joins, also with sign-ups off", async () => {
  const project = await server.createProject();
  const email = newAddress();
  const invitation = await invite(project, email, "ADMIN");
  expect(invitation.link).toContain(server.url.split(":").at(-1));
  const [mail] = await readPlatformEmails(server.pool, { to: email });
  expect(mail?.text).toContain(invitation.link);
  expect((await list(project)).map((one) => ({ ...one, token: undefined }))).toEqual([
    expect.objectContaining({ id: invitation.id, email, role: "ADMIN" }),
  ]);
  expect((await list(project))[0]).not.toHaveProperty("link");
  const { body: read } = await server.call(
    members.readInvitation,
    {},
    { params: { token: invitation.token } },
  );
  expect(read.data).toEqual({
    project: "A project",
    email,
    role: "ADMIN",
    expiresAt: invitation.expiresAt,
    hasAccount: false,
  });
  const closed = await server.startAnother({ DISABLE_SIGNUPS: "true" });
  const reply = await signUp(invitation.token, PASSWORD, closed.call);
  expect(reply.body.data).toEqual({ id: expect.any(String), email, projectId: project.id, role: "ADMIN" });
  const caller = { cookie: cookieOf(reply), projectId: project.id };
  expect((await server.call(contacts.listContacts, caller)).status).toBe(200);
  expect(await list(project)).toEqual([]);
  expect(await signUpError(invitation.token)).toBe(GONE);
});

test("an account created in between accepts the invitation, any other is rejected", async () => {
  const project = await server.createProject();
  const { email } = { email: `person${900}@example.com` };
  const { token } = await invite(project, email);
  const stranger = await server.signUp();
  expect(errorOf(await accept(token, stranger))).toBe("403 FORBIDDEN");
  const made = await server.call(users.signUp, {}, { body: { email, ...PASSWORD } });
  const person = { ...stranger, cookie: cookieOf(made) };
  expect(await signUpError(token)).toBe("409 CONFLICT");
  expect((await accept(token, person)).status).toBe(200);
  expect(errorOf(await accept(token, person))).toBe(GONE);
});

test("accepting confirms the address when the link was emailed, not when the inviter saw it", async () => {
  const leaving = await server.startAnother({ MAIL_TRANSPORT: "smtp://127.0.0.1:9" });
  const isProved = async (email: string) =>
    (
      await server.rows<{ is: boolean }>(
        "select verified_at is not null as is from users where email = $1",
        email,
      )
    )[0]?.is;
  const project = await server.createProject();
  const seen = await invite(project, newAddress());
  expect((await signUp(seen.token)).status).toBe(200);
  expect(await isProved(seen.email)).toBe(false);
  const sent = await invite(project, newAddress());
  expect((await signUp(sent.token, PASSWORD, leaving.call)).status).toBe(200);
  expect(await isProved(sent.email)).toBe(true);
  const person = await server.signUp();
  const { token } = await invite(project, person.email);
  const isIn = { cookie: person.cookie, projectId: project.id };
  expect((await server.call(contacts.listContacts, isIn)).status).toBe(403);
  const accepted = await leaving.call(
    members.acceptInvitation,
    { cookie: person.cookie },
    { params: { token } },
  );
  expect(accepted.status).toBe(200);
  expect((await server.call(contacts.listContacts, isIn)).status).toBe(200);
  expect(await isProved(person.email)).toBe(true);
  const again = { email: person.email };
  const { cookie } = project.owner;
  const refused = await server.call(
    members.addMember,
    { cookie },
    { params: { projectId: project.id }, body: again },
  );
  expect(errorOf(refused)).toBe("409 CONFLICT");
  // A member with an unconfirmed address gets no invitation either.
  await server.rows("update users set verified_at = null where id = $1", person.id);
  expect(
    errorOf(
      await server.call(members.addMember, { cookie }, { params: { projectId: project.id }, body: again }),
    ),
  ).toBe("409 CONFLICT");
});

test("an account with an unconfirmed address invites no one when email leaves the machine", async () => {
  const leaving = await server.startAnother({ MAIL_TRANSPORT: "smtp://127.0.0.1:9" });
  const project = await server.createProject(await server.signUp());
  const { cookie } = project.owner;
  const [stranger, known] = [newAddress(), await server.signUp()];
  await server.prove(known);
  const add = (to: string, caller: object = { cookie }) =>
    leaving.call(members.addMember, caller, { params: { projectId: project.id }, body: { email: to } });
  for (const to of [stranger, known.email]) {
    expect(errorOf(await add(to))).toBe("403 EMAIL_VERIFICATION_REQUIRED");
    expect(await readPlatformEmails(server.pool, { to })).toEqual([]);
  }
  // Keys can't add members, so a key can't invite on behalf of its owner.
  expect(errorOf(await add(stranger, project.byKey))).toBe("401 UNAUTHORIZED");
  expect(await list(project)).toEqual([]);
  await server.prove(project.owner);
  expect((await add(stranger)).status).toBe(201);
  expect((await add(known.email)).status).toBe(201);
});

test("shows no stranger's name as a link in the subject or text of an invitation", async () => {
  const project = await server.createProject();
  const { cookie } = project.owner;
  const name = "Win at evil.example http://evil.example/claim or ask ada@evil.example";
  await server.rows("update projects set name = $2 where id = $1", project.id, name);
  const [stranger, known] = [newAddress(), await server.signUp()];
  await server.prove(known);
  await invite(project, stranger);
  await server.call(
    members.addMember,
    { cookie },
    { params: { projectId: project.id }, body: { email: known.email } },
  );
  const path = `/projects/${project.id}/members/${known.id}`;
  await server.call("PATCH", path, { cookie }, { role: "ADMIN" });
  await server.call("DELETE", path, { cookie });
  const shown = "Win at evil·example or ask";
  const mails = await readPlatformEmails(server.pool, { to: known.email });
  mails.push(...(await readPlatformEmails(server.pool, { to: stranger })));
  expect(mails.map(({ subject }) => subject)).toEqual([
    `You were added to ${shown}`,
    `Your role in ${shown} changed`,
    `You were removed from ${shown}`,
    `Invitation to ${shown}`,
  ]);
  for (const { subject, text, html } of mails) {
    expect(text).toContain(shown);
    expect(text).toContain(project.owner.email);
    expect(`${subject} ${text} ${html}`).not.toMatch(/evil\.example/);
  }
});

test("rejects a link that is revoked, replaced, expired or invalid", async () => {
  const project = await server.createProject();
  const revoked = await invite(project, newAddress());
  const revoke = (id: string, by = project) =>
    server.call(
      members.revokeInvitation,
      { cookie: by.owner.cookie },
      { params: { projectId: by.id, invitationId: id } },
    );
  expect(errorOf(await revoke(revoked.id, await server.createProject()))).toBe(GONE);
  expect((await revoke(revoked.id)).status).toBe(204);
  expect(errorOf(await revoke(revoked.id))).toBe(GONE);
  const address = newAddress();
  const replaced = await invite(project, address);
  const newer = await invite(project, address, "ADMIN");
  const over = await invite(project, newAddress());
  await server.rows("update invitations set expires_at = now() where id = $1", over.id);
  expect((await list(project)).map(({ id }) => id)).toEqual([newer.id]);
  const none = "a".repeat(replaced.token.length);
  for (const token of [
    revoked.token,
    replaced.token,
    over.token,
    none,
    newer.token.slice(1),
    randomUUID(),
    "'--",
  ]) {
    expect(await signUpError(encodeURIComponent(token))).toBe(GONE);
    expect(errorOf(await server.call(members.readInvitation, {}, { params: { token } }))).toBe(GONE);
    expect(errorOf(await accept(encodeURIComponent(token), project.owner))).toBe(GONE);
  }
  await sweepInvitations(server.database);
  expect(await server.rows("select id from invitations where project_id = $1", project.id)).toEqual([
    { id: newer.id },
  ]);
});

test("only one of many concurrent users of a link joins", async () => {
  const project = await server.createProject();
  const { token } = await invite(project, newAddress());
  const replies = await Promise.all(Array.from({ length: 5 }, () => signUp(token)));
  expect(replies.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await server.rows("select 1 from memberships where project_id = $1", project.id)).toHaveLength(2);
});

test("a weak password keeps the invitation, and the token is never stored", async () => {
  const project = await server.createProject();
  const { token } = await invite(project, newAddress());
  expect(
    errorOf(
      await server.call(members.signUpInvited, {}, { params: { token }, body: { password: "password123" } }),
    ),
  ).toBe("422 VALIDATION_ERROR");
  expect(await list(project)).toHaveLength(1);
  const stored = await server.rows("select t::text as row from invitations t");
  expect(JSON.stringify(stored)).not.toContain(token);
});

test("limits the number of pending invitations", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into invitations (project_id, id, email, role, token_hash, expires_at)
     select $1, gen_random_uuid(), 'p' || n || '@example.com', 'MEMBER', '', now() + interval '1 day'
     from generate_series(1, $2) n`,
    project.id,
    LIMITS.pendingInvitations.value,
  );
  const caller = { cookie: project.owner.cookie };
  const add = (email: string) =>
    server.call(members.addMember, caller, { params: { projectId: project.id }, body: { email } });
  expect(errorOf(await add(newAddress()))).toBe("409 CONFLICT");
  expect((await add("p1@example.com")).status).toBe(201);
});

test("limits additions per person and hour across projects, and emails per address", async () => {
  await inOneWindow(server, 3_600, async () => {
    const { owner, ...first } = await server.createProject();
    const second = await server.createProject(owner);
    const add = (project: { id: string }, email: string) =>
      server.call(
        members.addMember,
        { cookie: owner.cookie },
        { params: { projectId: project.id }, body: { email } },
      );
    const address = newAddress();
    for (let at = 0; at < LIMITS.accountMails.value; at++) await add(first, address);
    expect(errorOf(await add(first, address))).toBe("429 RATE_LIMIT_EXCEEDED");
    const left = LIMITS.memberAdditions.value - LIMITS.accountMails.value - 1;
    // A few at a time, because each waits for the one before, and for a connection only seconds.
    for (let at = 0; at < left; at += 4) {
      const projects = [first, second, first, second].slice(0, left - at);
      const replies = await Promise.all(projects.map((project) => add(project, newAddress())));
      expect(replies.map(({ status }) => status)).toEqual(projects.map(() => 201));
    }
    expect(errorOf(await add(second, newAddress()))).toBe("429 RATE_LIMIT_EXCEEDED");
  });
});
