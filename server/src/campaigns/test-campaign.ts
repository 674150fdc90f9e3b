// A test mail of a campaign: rendered as a contact would get it, marked in its subject, counted nowhere, and
// nothing that comes of it touches that contact.
// Before it: routes.ts. After it: the outbox, as a transactional mail that belongs to no contact and no campaign.
import type { Tx } from "../platform/database.ts";
import { enqueueTestEmail } from "../emails/test-emails.ts";
import type { Domains } from "../domains/domains.ts";
import { findContactByEmail, getContact } from "../contacts/contacts.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { getCampaignRow } from "./campaigns.ts";
import { contentOf } from "./snapshot-recipients.ts";

const MARK = "[TEST] ";

/** Enqueues it and answers the mail's id. @throws Refusal CAMPAIGN_NOT_FOUND, CONTACT_NOT_FOUND, DOMAIN_NOT_VERIFIED. */
export async function testCampaign(
  tx: Tx,
  domains: Domains,
  projectId: string,
  id: string,
  test: { email: string; contactId?: string | undefined },
): Promise<string> {
  const row = await getCampaignRow(tx, projectId, id);
  await requireVerifiedSender(tx, domains, projectId, row.from_address);
  const contact =
    test.contactId === undefined
      ? await findContactByEmail(tx, projectId, test.email)
      : await getContact(tx, projectId, test.contactId);
  const content = contentOf(projectId, { ...row, subject: MARK + row.subject }, true);
  const to = { address: test.email, name: null };
  return enqueueTestEmail(tx, { projectId, to, content, renderAs: contact?.id ?? null });
}
