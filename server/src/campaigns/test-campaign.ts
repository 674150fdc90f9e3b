// Sends a test email of a campaign.
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Tx } from "../platform/database/database.ts";
import type { Domains } from "../domains/domains.ts";
import { sendTest, type TestAddressee } from "../templates/test-mail.ts";
import { getCampaignRow } from "./campaigns.ts";

/**
 * Queues a test email and returns its id.
 * @throws AppError CAMPAIGN_NOT_FOUND, CONTACT_NOT_FOUND, DOMAIN_NOT_VERIFIED
 */
export async function testCampaign(
  tx: Tx,
  domains: Domains,
  projectId: string,
  id: string,
  test: TestAddressee,
): Promise<string> {
  const row = await getCampaignRow(tx, projectId, id);
  const { subject, body, replyTo } = row;
  const from = { address: row.fromAddress, name: row.fromName };
  return sendTest(
    tx,
    domains,
    projectId,
    { subject, body, type: row.kind as TemplateType, from, replyTo },
    test,
  );
}
