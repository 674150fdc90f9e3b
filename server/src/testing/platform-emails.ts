// Reads the platform emails of an installation in tests, whether they are queued or in the local mailbox.
import type pg from "pg";
import PostalMime from "postal-mime";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import type { PlatformEmailContent } from "../emails/platform-email/prepare-platform-email.ts";

export interface WrittenPlatformEmail extends PlatformEmailContent {
  to: string;
}

interface Row {
  toAddress: string;
  subject: string;
  variables: PlatformEmailContent | null;
  raw: Buffer | null;
}

/**
 * Returns the platform emails to an address or to all, oldest first. The text of an email that was sent elsewhere is empty.
 * @param that.subject leaves out the confirmation that every account gets, unless another pattern is given
 */
export async function readPlatformEmails(
  pool: Pick<pg.Pool, "query">,
  { to, subject = /^(?!Confirm)/ }: { to?: string; subject?: RegExp } = {},
): Promise<WrittenPlatformEmail[]> {
  const { rows } = await pool.query<Row>(
    `select e.to_address, e.subject, e.variables, m.raw
     from emails e left join mailbox_messages m on m.project_id = e.project_id and m.email_id = e.id
     where e.project_id = $1 and ($2::text is null or e.to_address = $2) order by e.id`,
    [SYSTEM_PROJECT_ID, to ?? null],
  );
  const wanted = rows.filter((row) => subject.test(row.subject));
  return Promise.all(wanted.map(async (row) => ({ to: row.toAddress, ...(await contentOf(row)) })));
}

async function contentOf({ subject, variables, raw }: Row): Promise<PlatformEmailContent> {
  if (variables !== null) return variables;
  const { text = "", html = "" } = raw === null ? {} : await PostalMime.parse(raw);
  return { subject, text, html };
}
