// Tests that members get the notifications they chose, once, and no others.
import { expect, test } from "vitest";
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import { transaction } from "../../platform/database/database.ts";
import { createGuard } from "../../deliveries/reputation.ts";
import { layOutPlatformEmail } from "../../emails/platform-email/platform-email-layout.ts";
import { failedJobMail } from "../../reports/failed-jobs.ts";
import { lastMonday, notifySummaries } from "../../reports/weekly-summary.ts";
import { makeSentMails } from "../../testing/sent-mails.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type TestPerson,
  type TestProject,
} from "../../testing/test-server.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import { notifyMembers } from "./notifications.ts";

const server = useTestServer({ ROLES: "api" });
const baseUrl = () => "https://post.example";

interface Choice {
  kind: string;
  byMail: boolean;
}

const pathOf = ({ id }: TestProject) => `/projects/${id}/notifications`;
const choose = (project: TestProject, { cookie }: TestPerson, body: object) =>
  server.call<{ data: Choice[] }>("PUT", pathOf(project), { cookie }, body);
const chosen = async (project: TestProject, { cookie }: TestPerson) =>
  Object.fromEntries(
    (await server.call<{ data: Choice[] }>("GET", pathOf(project), { cookie })).body.data.map(
      ({ kind, byMail }) => [kind, byMail],
    ),
  );
const mailsTo = (email: string) => readPlatformEmails(server.pool, { to: email });
const subjects = async ({ email }: TestPerson) => (await mailsTo(email)).map(({ subject }) => subject);
const notify = (project: TestProject, kind: NotificationKind) =>
  transaction(server.database, (tx) =>
    notifyMembers(tx, { projectId: project.id, kind, facts: { name: "it" } }, () =>
      layOutPlatformEmail({ subject: kind, blocks: ["It happened."] }),
    ),
  );

async function withMember(): Promise<{ project: TestProject; member: TestPerson }> {
  const [project, member] = [await server.createProject(), await server.signUp()];
  await server.rows(
    "insert into memberships (project_id, user_id, role) values ($1, $2, 'MEMBER')",
    project.id,
    member.id,
  );
  return { project, member };
}

test("defaults apply without a choice, and a choice affects one kind of one member in one project", async () => {
  const { project, member } = await withMember();
  const other = await server.createProject(member);
  const usual = {
    "domain-lost": true,
    "campaign-paused": true,
    "reputation-warning": true,
    "cap-near": true,
    "job-failed": true,
    "workflow-failed": true,
    "webhook-disabled": true,
    "weekly-summary": false,
  };
  expect(await chosen(project, member)).toEqual(usual);
  await choose(project, member, { "domain-lost": false });
  const { body } = await choose(project, member, { "weekly-summary": true });
  expect(body.data.map(({ byMail }) => byMail)).toEqual([false, true, true, true, true, true, true, true]);
  expect(await chosen(project, project.owner)).toEqual(usual);
  expect(await chosen(other, member)).toEqual(usual);
  expect([await notify(project, "domain-lost"), await notify(project, "campaign-paused")]).toEqual([1, 2]);
  expect((await mailsTo(member.email)).map(({ subject }) => subject)).toEqual(["campaign-paused"]);
});

test("notifies each member in their language, also about a suspension", async () => {
  const { project, member } = await withMember();
  await server.rows("update users set language = 'fr' where id = $1", member.id);
  await makeSentMails(server.database, project.id, 200);
  await server.rows(`update sending_hours set bounced = 40 where project_id = $1`, project.id);
  const guard = createGuard({ isOn: true, baseUrl });
  await transaction(server.database, (tx) => guard(tx, [project.id]));
  expect(await subjects(project.owner)).toEqual(["The project “A project” was disabled"]);
  expect(await subjects(member)).toEqual(["Le projet «\u00a0A project\u00a0» a été désactivé"]);
  await transaction(server.database, (tx) =>
    notifyMembers(
      tx,
      { projectId: project.id, kind: "job-failed", facts: {} },
      failedJobMail({ projectId: project.id, id: "j1", kind: "events.delete", reason: "no" }, baseUrl()),
    ),
  );
  expect((await subjects(member)).at(-1)).toBe("La suppression d’événements a échoué");
});

test("rejects invalid choices and other people's projects", async () => {
  const project = await server.createProject();
  const stranger = await server.signUp();
  const wrong = await server.call("PUT", pathOf(project), project.bySession, { "domain-lost": "yes" });
  expect(faultsOf(wrong)).toEqual(["domain-lost invalid_type"]);
  for (const method of ["GET", "PUT"]) {
    const body = method === "PUT" ? {} : undefined;
    const reply = await server.call(method, pathOf(project), { cookie: stranger.cookie }, body);
    expect(errorOf(reply)).toBe("404 PROJECT_NOT_FOUND");
  }
});

test("warns once a week about rates near a suspension, except members who opted out", async () => {
  const { project, member } = await withMember();
  await choose(project, member, { "reputation-warning": false });
  const mails = await makeSentMails(server.database, project.id, 200);
  await server.rows(`update sending_hours set bounced = 14 where project_id = $1`, project.id);
  expect(mails.length).toBe(200);
  const guard = createGuard({ isOn: true, baseUrl });
  const evaluate = () => transaction(server.database, (tx) => guard(tx, [project.id]));
  await Promise.all([evaluate(), evaluate(), evaluate()]);
  await evaluate();
  const reported = await mailsTo(project.owner.email);
  expect(reported.map(({ subject }) => subject)).toEqual([
    "A project: too many emails bounce or are reported as spam",
  ]);
  expect(reported[0]?.text).toContain(`https://post.example/app/${project.id}/settings?tab=reputation`);
  expect(await mailsTo(member.email)).toEqual([]);
  for (const [days, count, isDisabled] of [
    [6, 1, false],
    [8, 2, false],
    [8, 2, true],
  ] as const) {
    await server.rows("update projects set disabled = $2 where id = $1", project.id, isDisabled);
    await server.rows(
      "update told_members set told_at = now() - make_interval(days => $2) where project_id = $1",
      project.id,
      days,
    );
    await evaluate();
    expect((await mailsTo(project.owner.email)).length).toBe(count);
  }
});

test("sends the weekly summary once to subscribed members, compared with the week before", async () => {
  const { project, member } = await withMember();
  await choose(project, member, { "weekly-summary": true });
  const at = new Date();
  const notifyAll = () => notifySummaries({ database: server.database, baseUrl }, at);
  await Promise.all([notifyAll(), notifyAll()]);
  await notifyAll();
  const reported = await mailsTo(member.email);
  expect(reported.map(({ subject }) => subject)).toEqual(["A project: 0 emails last week"]);
  expect(reported[0]?.text).toContain("Sent: 0 (0)");
  expect(await mailsTo(project.owner.email)).toEqual([]);
  await notifySummaries({ database: server.database, baseUrl }, new Date(at.getTime() + 7 * 86_400_000));
  expect((await mailsTo(member.email)).length).toBe(2);
});

test.for([
  ["2026-11-23T05:59:59Z", "2026-11-16T06:00:00.000Z"],
  ["2026-11-23T06:00:00Z", "2026-11-23T06:00:00.000Z"],
  ["2026-11-29T23:59:59Z", "2026-11-23T06:00:00.000Z"],
  ["2027-01-01T00:00:00Z", "2026-12-28T06:00:00.000Z"],
])("the Monday before %s is %s", ([at, monday]) => {
  expect(lastMonday(new Date(at ?? "")).toISOString()).toBe(monday);
});
