// Decides for which contact an email is rendered. A test email may imitate the email of another contact.
import { NO_ONE } from "../../platform/ids.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { ExecutionVariables, Recipient } from "../../rendering/template-variables.ts";
import type { ClaimedRow } from "./claimed-queries.ts";
import { kindOf } from "./rules.ts";

/** Stored in a test email's row in place of variables. */
export interface TestVariables {
  /** The contact to imitate. */
  renderAs?: string;
  /** The kind of bulk mail to imitate, in header fields only. A test ignores subscriptions. */
  listKind?: ListKind;
  /** Merged over the contact's data. */
  data?: Readonly<Record<string, unknown>>;
}

/** Returns the kind of list that the header of an email names. */
export function shownListKind(
  { isTest, variables }: Pick<ClaimedRow, "isTest" | "variables">,
  { listKind }: { listKind: ListKind | null },
): ListKind | null {
  return isTest ? ((variables as TestVariables | null)?.listKind ?? null) : listKind;
}

/** The columns that decide for which contact an email is rendered. */
export type RenderedRow = Pick<
  ClaimedRow,
  "projectId" | "id" | "contactId" | "toAddress" | "isTest" | "variables" | "priority"
>;

/** Returns the links of a recipient for the address that the email goes to. Without an address the links belong to no one. */
export type LinksOf = (
  projectId: string,
  contactId: string,
  to?: { address: string; emailId: string },
) => NonNullable<Recipient["links"]>;

/** Returns the contact that provides the data of an email. */
export function renderedAs({ contactId, isTest, variables }: RenderedRow): string | null {
  return isTest ? ((variables as TestVariables | null)?.renderAs ?? null) : contactId;
}

/** Variables of a workflow email. Rows from before decision 0127 hold the contact's data beside `event` and `steps`. */
type WorkflowVariables = Partial<ExecutionVariables> & { workflow?: unknown; [key: string]: unknown };

/** Returns what the execution of a workflow email adds to the variables. Null for other emails. */
function executionOf({ priority, isTest, variables }: RenderedRow): ExecutionVariables | null {
  if (isTest === true || kindOf(priority) !== "WORKFLOW") return null;
  const {
    event = {},
    steps = {},
    contact,
    workflow: _alias,
    ...rest
  } = (variables ?? {}) as WorkflowVariables;
  const former = { id: null, email: "", subscribed: false, data: rest };
  return { event, steps, contact: contact ?? (Object.keys(rest).length === 0 ? undefined : former) };
}

/**
 * Returns the recipient for rendering, with the email's variables merged over the contact's data. In a workflow the contact's data comes
 * first. The links act on the contact if the email goes to its address. Any other test email has links that change nothing and say so,
 * because it should look like the real email.
 */
export function recipientOf(
  row: RenderedRow & { staysHere?: boolean | null },
  contact: { email: string; subscribed: boolean; data: Record<string, unknown> } | undefined,
  linksOf: LinksOf,
): Omit<Recipient, "footer"> {
  const id = renderedAs(row);
  const variables = row.isTest ? (row.variables as TestVariables | null)?.data : row.variables;
  const isForItself = row.isTest !== true || (row.staysHere !== true && contact?.email === row.toAddress);
  const to = { address: row.toAddress, emailId: row.id };
  const execution = executionOf(row);
  const linksFor = () => {
    if (id !== null && isForItself) return linksOf(row.projectId, id, to);
    return id === null && row.isTest !== true ? null : linksOf(row.projectId, NO_ONE);
  };
  return {
    id,
    email: contact?.email ?? row.toAddress,
    subscribed: contact?.subscribed ?? false,
    ...(execution === null
      ? { data: { ...contact?.data, ...(variables as Record<string, unknown> | null | undefined) } }
      : {
          data: contact?.data ?? execution.contact?.data ?? {},
          execution: id === null ? execution : { event: execution.event, steps: execution.steps },
        }),
    links: linksFor(),
  };
}
