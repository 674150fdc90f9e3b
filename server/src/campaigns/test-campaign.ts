// Sends a test email of a campaign.
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Checked } from "../platform/checked.ts";
import type { Tx } from "../platform/database/database.ts";
import type { Domains } from "../domains/domains.ts";
import { sendTest, testedMessage, type TestAddressee, type TestDraft } from "../templates/test-mail.ts";
import { getCampaignRow } from "./campaigns.ts";

/**
 * Queues a test email and returns its id. Sends unsaved content instead of the stored one if there is any.
 * @throws AppError CAMPAIGN_NOT_FOUND, CONTACT_NOT_FOUND, DOMAIN_NOT_VERIFIED
 */
export async function testCampaign(
  tx: Tx,
  domains: Domains,
  projectId: string,
  id: string,
  { checked, ...test }: TestAddressee & { checked: Checked<{ draft: TestDraft }> },
): Promise<string> {
  const row = await getCampaignRow(tx, projectId, id);
  const stored = { ...row, type: row.kind as TemplateType, from: row.fromAddress };
  const message = testedMessage(stored, checked);
  const from = { address: message.from ?? row.fromAddress, name: message.fromName };
  return sendTest(tx, domains, projectId, { ...message, from }, test);
}
