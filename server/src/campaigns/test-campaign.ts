// A test mail of a campaign: rendered as a contact would get it, marked in its subject, counted nowhere.
// Before it: routes.ts. After it: the outbox, as a transactional mail without the campaign's id.
import type { Tx } from "../platform/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { enqueueEmails } from "../emails/emails.ts";
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
  const [emailId] = await enqueueEmails(tx, [
    {
      projectId,
      contactId: contact?.id ?? null,
      kind: "TRANSACTIONAL",
      to: { address: test.email, name: null },
      copies: null,
      content,
      variables: {},
    },
  ]);
  if (emailId === undefined) throw new Refusal("INTERNAL_SERVER_ERROR");
  return emailId;
}
