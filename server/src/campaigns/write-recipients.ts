// Writes the recipients of a campaign as a CSV file.
import { recipient } from "@postloft/contract/campaign-actions.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { Database } from "../platform/database/database.ts";
import { writeRow } from "../contacts/cell-text.ts";
import { listRecipients, type RecipientView } from "../emails/outbox/campaign-emails.ts";

const ROWS_A_BATCH = 1_000;
const COLUMNS = Object.keys(recipient.shape) as Array<keyof RecipientView>;

/** Yields the header, and then the lines of a batch of recipients at a time. */
export async function* writeRecipients(
  database: Database,
  key: { projectId: string; campaignId: string },
  status: EmailStatus | undefined,
): AsyncGenerator<string> {
  yield writeRow(COLUMNS);
  for (let before: string | null = null; ;) {
    const page: { data: readonly RecipientView[]; hasMore: boolean } = await listRecipients(
      database,
      key,
      status,
      {
        limit: ROWS_A_BATCH,
        before,
      },
    );
    yield page.data.map((one) => writeRow(COLUMNS.map((column) => one[column]))).join("");
    if (!page.hasMore) return;
    before = page.data.at(-1)?.id ?? null;
  }
}
