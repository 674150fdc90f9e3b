// Compares the numbers of one campaign wherever the API shows them: campaign statistics, providers and analytics.
import { afterAll, expect, test, vi } from "vitest";
import * as analytics from "@postloft/contract/analytics.ts";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { createDeliveries } from "../deliveries/deliveries.ts";
import { findReturnedMails } from "../emails/returned/returned-emails.ts";
import { transaction } from "../platform/database/database.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { useTestServer } from "../testing/test-server.ts";

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

const { applyReports } = createDeliveries({ guard: async () => undefined });

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
  const draft = { name: "News", subject: "News", body: "<p>Hi</p>", from: "news@mail.example.com" };
  const { body: created } = await server.call(campaigns.createCampaign, byKey, {
    body: { ...draft, audienceType: "ALL" },
  });
  const params = { id: created.data.id };
  await server.call(campaignActions.sendCampaign, byKey, { params, body: {} });
  const stats = async () => (await server.call(campaignActions.getCampaignStats, byKey, { params })).body;
  const read = async () => (await server.call(campaigns.getCampaign, byKey, { params })).body;
  await vi.waitUntil(async () => (await read()).status === "SENT", { timeout: 30_000 });
  const [row] = await server.rows<{ id: string }>(
    "select id from emails where project_id = $1 and to_address = 'bounced@gmail.com'",
    project.id,
  );
  await transaction(server.database, async (tx) => {
    const key = { projectId: project.id, emailId: row?.id ?? "", providerId: null };
    const [mail] = await findReturnedMails(tx, [key]);
    if (mail == null) throw new Error("The email was not sent.");
    await applyReports(tx, [{ mail, kind: "hard-bounce", at: null, data: {} }]);
  });

  const counts = { sentCount: 2, deliveredCount: 0, bouncedCount: 2, refusedCount: 2 };
  const rates = { deliveryRate: null, bounceRate: 50 };
  expect(await stats()).toMatchObject({ ...counts, ...rates, totalRecipients: 4, failedCount: 2 });
  expect(await read()).toMatchObject(counts);
  const providers = await server.call(campaignActions.listCampaignProviders, byKey, { params });
  expect(providers.body).toMatchObject([{ provider: "gmail", ...counts, ...rates }]);
  const breakdown = await server.call(analytics.getBreakdown, byKey, { query: { dimension: "campaign" } });
  expect(breakdown.body).toMatchObject([{ emails: 2, bounces: 2, refused: 2, bounceRate: 50 }]);
  await server.rows("update emails set delivered_at = now() where id = $1", row?.id);
  await recountEmailsInSql(server.database, project.id);
  expect((await stats()).deliveryRate).toBe(50);
});
