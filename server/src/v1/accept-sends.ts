// Accepts the checked calls of one transaction: decides on each, then writes contacts, contents and emails with a few statements.
import type { SendBody } from "@postloft/contract/v1.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import type { KeyedRequest } from "../platform/http/idempotency.ts";
import { pairUp } from "../platform/pair-up.ts";
import { AppError } from "../platform/app-error.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { enqueueEmails } from "../emails/outbox/emails.ts";
import type { TestVariables } from "../emails/rows/rendered-as.ts";
import type { Domains } from "../domains/domains.ts";
import { BY_KEY, type ChangeSource } from "../contacts/consent.ts";
import { readDataPatch, type DataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { readReferencedTemplates } from "../templates/referenced-templates.ts";
import { createDrafter, templateOf, type DraftedCall } from "./draft-content.ts";
import { makeContents, type Plan } from "./localize.ts";
import { optional } from "./shard.ts";
import { findSubscriptions } from "./queries.ts";
import { resolveSenders } from "./resolve-senders.ts";
import { contactKey, findUnreachable } from "./send-rules.ts";
import type { SendWarning } from "./send-warnings.ts";

export interface SendCall {
  projectId: string;
  /** Whether the emails stay in the local mailbox and the contact data is not stored. */
  isTest: boolean;
  body: SendBody;
  /** Ignored fields of the request. */
  unknownFields?: readonly string[];
  /** The call or its part of a batch, if a repeat must get the same response. */
  keyed: KeyedRequest | null;
  /** Default: a secret key. */
  via?: ChangeSource;
}

export interface SendResponse {
  emails: Array<{ contact: { id: string; email: string }; email: string }>;
  /** Omitted if empty. */
  warnings?: SendWarning[];
  timestamp: string;
}

/** A checked call. */
export interface SendItem extends SendCall, DraftedCall {
  patch: DataPatch;
  warnings: SendWarning[];
  scheduledFor: Date | undefined;
}

const NO_PATCH = readDataPatch({});

/** Writes the contacts, contents and emails of calls. Returns one response or error per call, in order. Errors affect only their call. */
export async function acceptSends(
  tx: Tx,
  items: readonly SendItem[],
  domains: Domains,
): Promise<Array<SendResponse | Error>> {
  const timestamp = now().toISOString();
  const plans = await decide(tx, items, domains);
  const accepted = plans.flatMap((plan) => (plan instanceof Error ? [] : [plan]));
  const recipients = accepted.flatMap((plan) =>
    plan.item.body.to.map((to) => ({ plan, item: plan.item, to })),
  );
  const contacts = await upsertContacts(
    tx,
    recipients.map(({ item, to }) => ({
      projectId: item.projectId,
      email: to.address,
      ...(item.isTest ? {} : optional("subscribed", item.body.subscribed)),
      subscribedIfNew: false,
      patch: item.isTest ? NO_PATCH : item.patch,
      via: item.via ?? BY_KEY,
    })),
  );
  const known = pairUp(recipients, contacts);
  await enqueueContactEvents(
    tx,
    known.flatMap(([{ item }, { contactId, isNew }]) => {
      const isUnchanged = !isNew && (item.isTest || item.body.data === undefined);
      return isUnchanged ? [] : [{ projectId: item.projectId, contactId }];
    }),
  );
  const contents = await makeContents(
    tx,
    known.map(([{ plan }, { contactId }]) => ({ plan, contactId })),
  );
  const ids = await enqueueEmails(
    tx,
    pairUp(known, contents).map(([[{ item, plan, to }, { contactId }], content]) => ({
      projectId: item.projectId,
      kind: "TRANSACTIONAL",
      to,
      copies: copiesOf(item.body),
      content,
      ...extrasOf(item),
      ...(plan.draft.template === null ? {} : { templateId: plan.draft.template.id }),
      ...ownerOf(item, contactId),
    })),
  );
  const responses = new Map(
    accepted.map(({ item }): [SendItem, SendResponse] => [
      item,
      { emails: [], ...(item.warnings.length > 0 && { warnings: item.warnings }), timestamp },
    ]),
  );
  for (const [[{ item, to }, { contactId }], email] of pairUp(known, ids))
    responses.get(item)?.emails.push({ contact: { id: contactId, email: to.address }, email });
  return plans.map((plan) =>
    plan instanceof Error ? plan : (responses.get(plan.item) ?? new Error("A call was not answered.")),
  );
}

/** Returns the owner of the email, which is its contact. Under a test key it has none and is only rendered for the contact. */
function ownerOf({ patch, isTest }: SendItem, contactId: string) {
  const data = { ...patch.set, ...patch.transient };
  if (!isTest) return { contactId, variables: data };
  const variables: TestVariables = { renderAs: contactId, data };
  return { contactId: null, variables: { ...variables }, isTest, staysHere: isTest };
}

function extrasOf({ scheduledFor, body: { tags, metadata } }: SendItem) {
  return {
    ...optional("scheduledFor", scheduledFor),
    ...optional("tags", tags),
    ...optional("metadata", metadata),
  };
}

function copiesOf(body: SendBody) {
  const copies = { cc: body.cc ?? [], bcc: body.bcc ?? [] };
  return copies.cc.length + copies.bcc.length === 0 ? null : copies;
}

/** Returns the content and sender of each call, or its error. Writes nothing. */
async function decide(
  tx: Tx,
  items: readonly SendItem[],
  domains: Domains,
): Promise<Array<Plan<SendItem> | Error>> {
  const references = items.map(templateOf).filter((one) => one !== null);
  const draftOf = createDrafter(await readReferencedTemplates(tx, references));
  const drafted = items.map((item) => ({ item, draft: draftOf(item) }));
  const senders = await resolveSenders(
    tx,
    drafted.map(({ item, draft }) =>
      draft instanceof Error
        ? withoutTemplate(item, draft)
        : { projectId: item.projectId, body: item.body, template: draft.template },
    ),
    domains,
  );
  const plans = pairUp(drafted, senders).map(([{ item, draft }, from]): Plan<SendItem> | Error => {
    if (draft instanceof Error) return isAboutRights(from) ? from : draft;
    return from instanceof Error ? from : { item, draft, from };
  });
  const unreachable = await readUnreachable(tx, plans);
  return pairUp(plans, unreachable).map(([plan, address]) => {
    if (plan instanceof Error || address === null) return plan;
    return new AppError(
      "CONTACT_UNSUBSCRIBED",
      withValues("{address} is not subscribed, so a {type} template can't be sent to it.", {
        address,
        type: String(plan.draft.template?.type),
      }),
    );
  });
}

/** Permissions are checked before existence. A call with an unknown template is still checked for its own sender. */
function withoutTemplate({ projectId, body }: SendItem, draft: Error) {
  const isMissing = draft instanceof AppError && draft.code === "TEMPLATE_NOT_FOUND";
  return isMissing && body.from !== undefined ? { projectId, body, template: null } : draft;
}

function isAboutRights(sender: unknown): sender is AppError {
  return sender instanceof AppError && sender.code === "DOMAIN_NOT_VERIFIED";
}

/** Returns for each call the first recipient that its template must not reach. */
async function readUnreachable(
  tx: Tx,
  plans: ReadonlyArray<Plan<SendItem> | Error>,
): Promise<Array<string | null>> {
  const calls = plans.map((plan) => {
    if (plan instanceof Error) return null;
    const { projectId, body } = plan.item;
    const addresses = body.to.map(({ address }) => address);
    const copies = [...(body.cc ?? []), ...(body.bcc ?? [])].map(({ address }) => address);
    const isToList = plan.draft.template !== null && plan.draft.template.type !== "TRANSACTIONAL";
    return { projectId, addresses, copies, subscribed: body.subscribed, isToList };
  });
  const asked = calls.flatMap((call) =>
    call === null || !call.isToList
      ? []
      : [...(call.subscribed === undefined ? call.addresses : []), ...call.copies].map((email) => ({
          projectId: call.projectId,
          email,
        })),
  );
  const rows = asked.length === 0 ? [] : await findSubscriptions(tx, asked);
  return findUnreachable(
    calls,
    new Map(rows.map((row) => [contactKey(row.projectId, row.email), row.subscribed])),
  );
}
