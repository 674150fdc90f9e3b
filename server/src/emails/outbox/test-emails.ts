// Enqueues test emails, which belong to no contact and are left out of counts and notifications.
import type { Tx } from "../../platform/database/database.ts";
import type { ListKind } from "../../message/message-headers.ts";
import { enqueueEmails, type EmailContent, type Mailbox } from "./emails.ts";
import type { TestVariables } from "../rows/rendered-as.ts";

export interface TestEmail {
  projectId: string;
  to: Mailbox;
  content: EmailContent;
  /** The contact used for rendering, or null for none. */
  renderAs: string | null;
  /** The kind of bulk mail to imitate in the headers, or null for none. */
  listKind: ListKind | null;
}

/** Enqueues a test email and returns its id. */
export async function enqueueTestEmail(tx: Tx, { renderAs, listKind, ...mail }: TestEmail): Promise<string> {
  const variables: TestVariables = {
    ...(renderAs === null ? {} : { renderAs }),
    ...(listKind === null ? {} : { listKind }),
  };
  const [id] = await enqueueEmails(tx, [
    {
      ...mail,
      contactId: null,
      kind: "TRANSACTIONAL",
      copies: null,
      variables: { ...variables },
      isTest: true,
    },
  ]);
  if (id === undefined) throw new Error("One mail was put into the outbox and has no id.");
  return id;
}
