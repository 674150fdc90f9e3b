// Compares the numbers of one campaign wherever the API shows them: campaign statistics, providers and analytics.
import type { z } from "zod";
import { afterAll, expect, test, vi } from "vitest";
import * as analytics from "@postloft/contract/analytics.ts";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as eventsContract from "@postloft/contract/events.ts";
import { createDeliveries } from "../deliveries/deliveries.ts";
import type { ReportKind } from "../deliveries/rules.ts";
import { recordActivities } from "../deliveries/tracking/record-activity.ts";
import { findReturnedMails } from "../emails/returned/returned-emails.ts";
import { countNews } from "../events/counts.ts";
import { recountSample } from "../events/recount.ts";
import { transaction } from "../platform/database/database.ts";
import { numberOf } from "../rendering/link-target.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { useTestServer, type TestCaller } from "../testing/test-server.ts";

const dns = await startDnsServer();
const sink = await startSmtpSink({ keepRaw: false });
const server = useTestServer({
  ROLES: "api,worker",
  MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
});
afterAll(async () => {
  await sink.close();
  await dns.close();
});

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";
const LINK = "https://shop.example/";
const { applyReports } = createDeliveries({ guard: async () => undefined });

async function sendNews(byKey: TestCaller, from: string): Promise<{ id: string }> {
  const body = `<p>Hi <a href="${LINK}">shop</a></p>`;
  const { body: created } = await server.call(campaigns.createCampaign, byKey, {
    body: { name: "News", subject: "News", body, from, audienceType: "ALL" },
  });
  const params = { id: created.data.id };
  await server.call(campaignActions.sendCampaign, byKey, { params, body: {} });
  return params;
}

/** Names the numbers of a report as those of a campaign. */
const asInCampaigns = (row: z.output<typeof analytics.breakdownRow>) => ({
  value: row.value,
  sentCount: row.emails,
  deliveredCount: row.delivered,
  openedCount: row.opens,
  clickedCount: row.clicks,
  bouncedCount: row.bounces,
  complainedCount: row.complaints,
});

/** Finds an email before its contact is deleted. */
async function findMail(projectId: string, address: string) {
  const [row] = await server.rows<{ id: string; contactId: string }>(
    "select id, contact_id from emails where project_id = $1 and to_address = $2",
    projectId,
    address,
  );
  return { projectId, emailId: row?.id ?? "", contactId: row?.contactId ?? "" };
}

async function report(key: { projectId: string; emailId: string }, ...kinds: ReportKind[]): Promise<void> {
  for (const kind of kinds)
    await transaction(server.database, async (tx) => {
      const [mail] = await findReturnedMails(tx, [{ ...key, providerId: null }]);
      if (mail == null) throw new Error("The email was not sent.");
      await applyReports(tx, [{ mail, kind, at: null, data: { userAgent: PHONE } }]);
    });
}

/** Follows the link of an email a minute after it was sent, because machines follow links within seconds. */
async function click({ projectId, emailId }: { projectId: string; emailId: string }): Promise<void> {
  const at = new Date(Date.now() + 60_000);
  const person = { userAgent: PHONE, purpose: "", otherLinkMs: Number.POSITIVE_INFINITY, isLast: true };
  const link = { kind: "click" as const, number: numberOf(LINK, true), link: LINK };
  await transaction(server.database, (tx) =>
    recordActivities(tx, [{ projectId, emailId, at, ...link, ...person }]),
  );
}

test("shows the same bounces and refusals everywhere, and no delivery rate over SMTP", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await proveDomain(server, dns, byKey, "mail.example.com");
  for (const name of ["ada", "bounced", "unknown", "full"])
    await server.call(contacts.upsertContact, byKey, { body: { email: `${name}@gmail.com` } });
  sink.setRules([
    { phase: "RCPT", recipient: /^unknown@/, action: { reply: "550 5.1.1 No such user" } },
    { phase: "RCPT", recipient: /^full@/, action: { reply: "552 5.2.2 Mailbox full" } },
  ]);
  const params = await sendNews(byKey, "news@mail.example.com");
  const stats = async () => (await server.call(campaignActions.getCampaignStats, byKey, { params })).body;
  const read = async () => (await server.call(campaigns.getCampaign, byKey, { params })).body;
  await vi.waitUntil(async () => (await read()).status === "SENT", { timeout: 30_000 });
  await report(await findMail(project.id, "bounced@gmail.com"), "hard-bounce");

  const counts = { sentCount: 2, deliveredCount: 0, bouncedCount: 2, refusedCount: 2 };
  const rates = { deliveryRate: null, bounceRate: 50 };
  expect(await stats()).toMatchObject({ ...counts, ...rates, totalRecipients: 4, failedCount: 2 });
  expect(await read()).toMatchObject(counts);
  const providers = await server.call(campaignActions.listCampaignProviders, byKey, { params });
  expect(providers.body).toMatchObject([{ provider: "gmail", ...counts, ...rates }]);
  const breakdown = await server.call(analytics.getBreakdown, byKey, { query: { dimension: "campaign" } });
  expect(breakdown.body).toMatchObject([{ emails: 2, bounces: 2, refused: 2, bounceRate: 50 }]);
  await server.rows("update emails set delivered_at = now() where to_address = 'bounced@gmail.com'");
  await recountEmailsInSql(server.database, project.id);
  expect((await stats()).deliveryRate).toBe(50);
});

test("shows the same numbers everywhere after contacts are deleted, before and after their activity", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await proveDomain(server, dns, byKey, "news.example.com");
  const names = ["early", "late", "kept", "moving"];
  for (const name of names)
    await server.call(contacts.upsertContact, byKey, { body: { email: `${name}@gmail.com` } });
  sink.setRules([{ phase: "DOT", recipient: /^moving@/, delayMs: 2_000 }]);
  const remove = async ({ contactId: id }: { contactId: string }) =>
    expect((await server.call(contacts.deleteContact, byKey, { params: { id } })).status).toBe(204);
  const params = await sendNews(byKey, "news@news.example.com");
  await sink.waitUntil(() => sink.commands.some(({ line }) => line.includes("moving@")), 30_000);
  const moving = await findMail(project.id, "moving@gmail.com");
  await remove(moving);
  const read = async () => (await server.call(campaigns.getCampaign, byKey, { params })).body;
  await vi.waitUntil(async () => (await read()).status === "SENT", { timeout: 30_000 });

  const [early, late, kept] = await Promise.all(
    ["early", "late", "kept"].map(async (name) => findMail(project.id, `${name}@gmail.com`)),
  );
  await report(early!, "delivered", "opened");
  await click(early!);
  await remove(early!);
  await remove(late!);
  // A second open or click counts nowhere.
  await report(early!, "opened");
  await click(early!);
  await report(late!, "delivered", "opened", "complaint");
  await click(late!);
  await report(moving, "opened", "hard-bounce");
  await report(kept!, "opened");

  const breakdown = async (dimension: "campaign" | "provider") =>
    (await server.call(analytics.getBreakdown, byKey, { query: { dimension } })).body.map(asInCampaigns);
  const [inReports] = await breakdown("campaign");
  expect(inReports).toMatchObject({ sentCount: 4, deliveredCount: 2, openedCount: 4, clickedCount: 2 });
  expect(inReports).toMatchObject({ bouncedCount: 1, complainedCount: 1 });
  const { value: _id, ...counts } = inReports!;
  expect(await read()).toMatchObject(counts);
  const { body: providers } = await server.call(campaignActions.listCampaignProviders, byKey, { params });
  // The address of an email that is being submitted is erased completely.
  expect(providers.map(({ provider, sentCount }) => [provider, sentCount])).toEqual([
    ["gmail", 3],
    ["other", 1],
  ]);
  expect(providers.map(({ provider: value, ...row }) => ({ ...row, value }))).toMatchObject(
    await breakdown("provider"),
  );
  // The contacts' own events are gone.
  const { body: events } = await server.call(eventsContract.listEvents, byKey, {});
  expect(new Set(events.data.map(({ contactId }) => contactId))).toEqual(new Set([kept!.contactId]));
  await countNews(server.database, { lagSeconds: 0 });
  const lastDay = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) };
  const { wrong } = await recountSample(server.database, lastDay, 100);
  expect(wrong.filter(({ projectId }) => projectId === project.id)).toEqual([]);
});
