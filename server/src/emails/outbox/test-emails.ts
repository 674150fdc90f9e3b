// A mail to try something out: it belongs to no contact, and nothing that comes of it is counted or told to anybody.
import type { Tx } from "../../platform/database.ts";
import type { ListKind } from "../../message/message-headers.ts";
import { enqueueEmails, type EmailContent, type Mailbox } from "./emails.ts";
import type { TestVariables } from "../sending/rendered-as.ts";

export interface TestEmail {
  projectId: string;
  to: Mailbox;
  content: EmailContent;
  /** The contact as whom it is rendered; null: as nobody. */
  renderAs: string | null;
  /** The list it would go to, for its header fields; null: none. */
  listKind: ListKind | null;
}

/** Puts a test mail into the outbox and returns its id. */
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
