// Tests the reputation guard over HTTP: correct rates and levels, and a critical project that is disabled once with its members notified.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as securityContract from "@postloft/contract/security.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { transaction } from "../platform/database/database.ts";
import { countMails, findMiscounts } from "../emails/results/sending-hours.ts";
import { makeSentMails, sesEvent, type SentMail } from "../testing/sent-mails.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { suspendProjects } from "../projects/suspend-projects.ts";
import { createDeliveries } from "./deliveries.ts";
import { createInterpreter } from "./interpret-notices.ts";
import { createNoticeStore, readNotices } from "./notices.ts";
import { createGuard, type Guard, type Security } from "./reputation.ts";
import { createReturnPaths } from "./return-path.ts";
import { checkSendingProjects, type CheckedProjects } from "./watch-rates.ts";
import { createLog } from "../platform/log.ts";

const server = useTestServer({ ROLES: "api" });
const HOUR_MS = 3_600_000;

/** Reports emails through SES notices, with the guard on or off. */
async function report(mails: readonly SentMail[], type: "Bounce" | "Complaint", isOn = true): Promise<void> {
  const { database } = server;
  const notices = createNoticeStore(database);
  const reported = mails.map((mail) =>
    sesEvent(mail, type, { bounceType: "Permanent", bounceSubType: "General" }),
  );
  await Promise.all(
    reported.map((event) =>
      notices.store({
        source: "sns",
        providerId: randomUUID(),
        raw: Buffer.from(JSON.stringify(event)),
        sender: null,
        recipient: null,
        toldAt: new Date(),
      }),
    ),
  );
  const guard = createGuard({ isOn, baseUrl: () => "https://post.example.com" });
  const returnPaths = createReturnPaths("a secret that is long enough");
  const interpret = createInterpreter({
    reportReader: { read: async () => ({ fault: "none here" }) },
    deliveries: createDeliveries({ guard }),
    returnPaths,
    ownDomains: [],
  });
  const options = { database, interpret, log: createLog({ level: "silent" }) };
  // In small batches, so that a project becomes critical in the middle.
  while ((await readNotices(options, "sns", 3)) > 0);
}

const read = async (project: TestProject): Promise<Security> => {
  const reply = await server.call(securityContract.getSecurity, project.byKey, {
    params: { projectId: project.id },
  });
  expect(reply.status).toBe(200);
  return reply.body;
};
const mailsTo = async (project: TestProject) =>
  (await readPlatformEmails(server.pool, { subject: /was disabled$/ })).filter(({ text }) =>
    text.includes(project.id),
  );

test("returns a healthy, complete response for a project without email on both paths", async () => {
  const project = await server.createProject();
  const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 };
  const expected = {
    status: {
      projectId: project.id,
      isHealthy: true,
      shouldDisable: false,
      isNewProject: true,
      countedFrom: null,
      twentyFourHour: none,
      sevenDay: none,
      allTime: none,
      violations: [],
      warnings: [],
    },
    levels: {
      bounce7Day: "healthy",
      bounceAllTime: "healthy",
      complaint7Day: "healthy",
      complaintAllTime: "healthy",
    },
    isDisabled: false,
    disabledBy: null,
    suspensions: [],
  };
  for (const [path, caller] of [
    [`/projects/${project.id}/security`, project.byKey],
    [`/projects/${project.id}/security`, { cookie: project.owner.cookie }],
    [`/users/@me/projects/${project.id}/security`, { cookie: project.owner.cookie }],
  ] as const)
    expect((await server.call("GET", path, caller)).body).toEqual(expected);
});

test("rejects readers who do not belong to the project", async () => {
  const [project, stranger] = [await server.createProject(), await server.createProject()];
  const { cookie } = stranger.owner;
  const mine = `/users/@me/projects/${project.id}/security`;
  const [foreign, missing] = [
    await server.call("GET", mine, { cookie }),
    await server.call(securityContract.getOwnSecurity, { cookie }, { params: { projectId: randomUUID() } }),
  ];
  expect([errorOf(foreign), errorOf(missing)]).toEqual(Array(2).fill("404 PROJECT_NOT_FOUND"));
  expect(
    errorOf(
      await server.call(securityContract.getSecurity, { cookie }, { params: { projectId: project.id } }),
    ),
  ).toBe("404 PROJECT_NOT_FOUND");
  expect(
    errorOf(
      await server.call(securityContract.getSecurity, stranger.byKey, { params: { projectId: project.id } }),
    ),
  ).toBe("404 PROJECT_NOT_FOUND");
});

test("counts each email and rates no project below a hundred emails", async () => {
  const project = await server.createProject();
  const mails = await makeSentMails(server.database, project.id, 99);
  await report(mails.slice(0, 50), "Bounce");
  const { status, levels, isDisabled } = await read(project);
  const rates = { total: 99, bounces: 50, complaints: 0, bounceRate: 50.5051, complaintRate: 0 };
  expect([status.twentyFourHour, status.sevenDay, status.allTime]).toEqual([rates, rates, rates]);
  expect([levels.bounceAllTime, status.isHealthy, isDisabled]).toEqual(["healthy", true, false]);
  expect(await findMiscounts(server.database)).toEqual([]);
});

/** Polls once and returns the projects that were checked. */
async function look(evaluated: CheckedProjects): Promise<string[]> {
  const asked: string[] = [];
  const guard = createGuard({ isOn: true, baseUrl: () => "https://post.example.com" });
  const watched: Guard = async (tx, projectIds) => {
    asked.push(...projectIds);
    await guard(tx, projectIds);
  };
  await checkSendingProjects({ database: server.database, guard: watched }, evaluated);
  return asked;
}

test("the hundredth email disables a project with earlier bounces", async () => {
  const [project, healthy] = [await server.createProject(), await server.createProject()];
  await makeSentMails(server.database, healthy.id, 300);
  await report((await makeSentMails(server.database, project.id, 99)).slice(0, 10), "Bounce");
  const evaluated: CheckedProjects = new Map();
  const first = await look(evaluated);
  expect([first.includes(project.id), first.includes(healthy.id)]).toEqual([true, false]);
  expect((await read(project)).isDisabled).toBe(false);
  expect(await look(evaluated)).toEqual([]);
  await makeSentMails(server.database, project.id, 1);
  expect(await look(evaluated)).toEqual([project.id]);
  const { isDisabled, disabledBy, suspensions } = await read(project);
  expect([isDisabled, disabledBy, suspensions.length]).toEqual([true, "RATES", 1]);
  expect(await mailsTo(project)).toHaveLength(1);
});

test("checks a project with enough emails only once an hour while it sends", async () => {
  const project = await server.createProject();
  const mails = await makeSentMails(server.database, project.id, 400);
  await report(mails.slice(0, 10), "Bounce");
  const evaluated: CheckedProjects = new Map();
  expect(await look(evaluated)).toContain(project.id);
  await makeSentMails(server.database, project.id, 10);
  expect(await look(evaluated)).not.toContain(project.id);
  const earlier = new Date(Date.now() - HOUR_MS);
  evaluated.set(project.id, { projectId: project.id, mails: 410, hour: earlier });
  expect(await look(evaluated)).toContain(project.id);
  expect((await read(project)).isDisabled).toBe(false);
});

test("disables the project once at ten percent, stops its emails and notifies every member", async () => {
  const project = await server.createProject();
  const other = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, 'MEMBER')", project.id, other.id);
  const mails = await makeSentMails(server.database, project.id, 100);
  await report(mails.slice(0, 9), "Bounce");
  expect(await read(project)).toMatchObject({
    status: { shouldDisable: false, isHealthy: false },
    levels: { bounce7Day: "warning", bounceAllTime: "critical" },
    isDisabled: false,
  });
  await report(mails.slice(9, 30), "Bounce");
  const security = await read(project);
  expect(security).toMatchObject({
    status: { shouldDisable: true, twentyFourHour: { bounces: 30 } },
    levels: { bounce7Day: "critical" },
    isDisabled: true,
    // At the tenth bounce, within the batch that reached the threshold.
    suspensions: [
      {
        at: expect.any(String),
        reasons: [expect.stringContaining("12 bounces of 100 emails over 7 days"), expect.any(String)],
        rates: [
          {
            of: "bounces",
            window: "sevenDay",
            level: "critical",
            count: 12,
            mails: 100,
            rate: 12,
            threshold: 10,
          },
          expect.objectContaining({ window: "allTime", threshold: 8 }),
        ],
      },
    ],
  });
  expect(security.suspensions).toHaveLength(1);
  const reported = await mailsTo(project);
  expect(reported.map(({ to }) => to).toSorted()).toEqual([project.owner.email, other.email].toSorted());
  expect(reported[0]).toMatchObject({
    subject: "The project “A project” was disabled",
    text: expect.stringMatching(
      /bounces of 100 emails[^]*https:\/\/post\.example\.com\/app\/[^/]+\/settings\?tab=reputation/,
    ),
  });
  const send = { to: "ada@example.com", from: "a@sandbox.localhost", subject: "Hello", body: "Hello" };
  expect(errorOf(await server.call(v1.send, project.byKey, { body: send }))).toBe("403 PROJECT_DISABLED");
  expect((await server.call(contacts.listContacts, project.byKey)).status).toBe(200);
  expect(await findMiscounts(server.database)).toEqual([]);
});

test("disables from five complaints on", async () => {
  const project = await server.createProject();
  const mails = await makeSentMails(server.database, project.id, 120);
  await report(mails.slice(0, 4), "Complaint");
  expect(await read(project)).toMatchObject({
    status: { shouldDisable: false },
    levels: { complaint7Day: "critical", complaintAllTime: "critical" },
    isDisabled: false,
  });
  await report(mails.slice(4, 5), "Complaint");
  expect((await read(project)).isDisabled).toBe(true);
});

test("only shows a critical project when the guard is off", async () => {
  const project = await server.createProject();
  const mails = await makeSentMails(server.database, project.id, 100);
  await report(mails.slice(0, 20), "Bounce", false);
  expect(await read(project)).toMatchObject({
    status: { shouldDisable: true },
    isDisabled: false,
    suspensions: [],
  });
  expect(await mailsTo(project)).toEqual([]);
});

test("does not count old bounces again after a project is enabled", async () => {
  const project = await server.createProject();
  const mails = await makeSentMails(server.database, project.id, 100);
  await report(mails.slice(0, 20), "Bounce");
  // The suspension was in an earlier hour than the emails below.
  await server.rows("update project_suspensions set created_at = now() where project_id = $1", project.id);
  await server.rows(
    "update sending_hours set hour = hour - interval '3 hours' where project_id = $1",
    project.id,
  );
  await server.rows(
    "update emails set sent_at = sent_at - interval '3 hours' where project_id = $1",
    project.id,
  );
  await server.rows(
    "update project_suspensions set created_at = now() - interval '2 hours' where project_id = $1",
    project.id,
  );
  await server.rows("update projects set disabled = false where id = $1", project.id);
  expect(await read(project)).toMatchObject({
    status: { allTime: { total: 0 }, isNewProject: true, isHealthy: true, countedFrom: expect.any(String) },
    isDisabled: false,
  });
  await report(mails.slice(20, 30), "Bounce");
  expect((await read(project)).isDisabled).toBe(false);
  const more = await makeSentMails(server.database, project.id, 100);
  await report(more.slice(0, 12), "Bounce");
  expect(await read(project)).toMatchObject({ isDisabled: true, suspensions: [{}, {}] });
  expect(await findMiscounts(server.database)).toEqual([]);
});

test("disables a critical project once with several concurrent readers", async () => {
  const project = await server.createProject();
  const suspend = () =>
    transaction(server.database, (tx) =>
      suspendProjects(tx, [{ projectId: project.id, reasons: ["too many bounces"], rates: [] }]),
    );
  const suspended = await Promise.all(Array.from({ length: 5 }, suspend));
  expect(suspended.flat()).toHaveLength(1);
  expect((await read(project)).suspensions).toEqual([
    { at: expect.any(String), reasons: ["too many bounces"], rates: [] },
  ]);
});

test("windows include whole hours, all time includes everything, rejected addresses are bounces", async () => {
  const project = await server.createProject();
  const now = (await server.rows<{ now: Date }>("select now()"))[0]?.now.getTime() ?? 0;
  const before = [0, 23, 24, 26, 167, 168, 170, 24 * 400];
  const at = (hours: number) => new Date(now - hours * HOUR_MS);
  const kinds = ["sent", "bounced", "refused", "complained"] as const;
  await transaction(server.database, (tx) =>
    countMails(
      tx,
      before.flatMap((hours) => kinds.map((what) => ({ projectId: project.id, at: at(hours), what }))),
    ),
  );
  const { status } = await read(project);
  const counted = [status.twentyFourHour, status.sevenDay, status.allTime].map((window) => [
    window.total,
    window.bounces,
    window.complaints,
  ]);
  // The first hour of a window counts as a whole. Sent and rejected emails make up the total.
  expect(counted).toEqual([
    [6, 6, 3],
    [12, 12, 6],
    [16, 16, 8],
  ]);
});
