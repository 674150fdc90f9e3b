// POST /v1/send: validates everything, then writes contacts, contents and emails of many calls in one transaction.
import { LRUCache } from "lru-cache";
import type { SendBody } from "@postloft/contract/v1.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { now } from "../platform/clock.ts";
import { wasRolledBack, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { storeStoredResponses, type StoredResponse } from "../platform/http/idempotency.ts";
import { pairUp } from "../platform/pair-up.ts";
import { AppError } from "../platform/app-error.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { enqueueEmails, hashTexts, makeContent, type Mailbox } from "../emails/outbox/emails.ts";
import type { TestVariables } from "../emails/rows/rendered-as.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { createCapCheck } from "../billing/caps.ts";
import type { Domains } from "../domains/domains.ts";
import type { ChangeSource } from "../contacts/consent.ts";
import { readDataPatch, type DataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { checkContent } from "../templates/check-content.ts";
import type { Warning } from "../templates/warnings.ts";
import { readTemplates } from "../templates/templates.ts";
import { createDrafter, ownTexts, partsOf, templateKeyOf, type Draft, type Parts } from "./draft-content.ts";
import { createShards, MAX_BATCH_BYTES, optional, type ShardRequest } from "./shard.ts";
import { findSubscriptions } from "./queries.ts";
import { resolveSenders } from "./resolve-senders.ts";
import { contactKey, findUnreachable } from "./send-rules.ts";
import { createSendWarner, ignoredField, type SendWarning } from "./send-warnings.ts";

export interface SendRequest {
  projectId: string;
  /** Whether the emails stay in the local mailbox and the contact data is not stored. */
  isTest: boolean;
  body: SendBody;
  /** Ignored fields of the request. */
  unknownFields?: readonly string[];
  /** Size of the original request. */
  bodyBytes: number;
  storedResponse: StoredResponse | null;
  via: ChangeSource;
}

export interface SendResponse {
  emails: Array<{ contact: { id: string; email: string }; email: string }>;
  /** Omitted if empty. */
  warnings?: SendWarning[];
  timestamp: string;
}

/**
 * Two batches in flight, so that one fills while the other commits. Calls to the same address share a shard, heavy ones have a separate
 * one.
 */
const SHARDS = 2;
/** Calls can be large, so this limits the number in one batch. */
const MAX_BATCH = 50;
const MAX_CHECKED_CONTENTS = 2_000;
const NO_PATCH = readDataPatch({});

interface Item extends SendRequest {
  parts: Parts;
  texts: ReturnType<typeof ownTexts>;
  patch: DataPatch;
  warnings: SendWarning[];
}

export function createSendEndpoint(options: {
  database: Database;
  renderer: AskedRenderer;
  domains: Domains;
}): (request: SendRequest) => Promise<SendResponse> {
  const { database, renderer, domains } = options;
  /** Hashes of validated texts, so that repeated texts are not validated again. */
  const checked = new LRUCache<string, true>({ max: MAX_CHECKED_CONTENTS });
  const warn = createSendWarner(database);
  const requireRoom = createCapCheck(database);

  /**
   * Validates the call's own texts. Those of a template were validated when it was saved.
   * @returns the warnings
   */
  async function checkTexts(
    { projectId, body }: SendRequest,
    parts: Parts,
    hash: string | undefined,
  ): Promise<readonly Warning[]> {
    const own = { subject: parts.subject ?? "", html: parts.html ?? "", text: parts.text };
    const texts = [own.subject, own.html, own.text ?? ""];
    if (texts.every((part) => part === "")) return [];
    const key = hash ?? `template ${hashTexts(own)}`;
    const hasVariables = texts.some((part) => part.includes("{{"));
    if (hasVariables && !checked.has(key)) {
      // Validates with a footer too, because the template may have one.
      await checkContent(renderer, projectId, own, body.template !== undefined && parts.html !== null);
      checked.set(key, true);
    }
    return warn({ projectId, parts, key, data: body.data });
  }

  const shards = createShards(SHARDS);
  const commits = createGroupCommit<Item, SendResponse>({
    lanes: shards.count,
    laneOf: (item) => shards.laneOf(asShardRequest(item)),
    maxItems: MAX_BATCH,
    weightOf: ({ bodyBytes }) => bodyBytes,
    maxWeight: MAX_BATCH_BYTES,
    run: (items) => transaction(database, (tx) => sendAll(tx, items, domains)),
    hadNoEffect: wasRolledBack,
  });

  return async (request) => {
    if (!request.isTest) await requireRoom(request.projectId, "transactional", request.body.to.length);
    const parts = partsOf(request.body);
    const texts = ownTexts(request.body, parts);
    const warnings = [
      ...(await checkTexts(request, parts, texts?.hash)),
      ...(request.unknownFields ?? []).map(ignoredField),
    ];
    const item = { ...request, parts, texts, patch: readDataPatch(request.body.data), warnings };
    return shards.during(asShardRequest(request), () => commits.submit(item));
  };
}

/** Calls to one address share a shard. */
function asShardRequest({ projectId, body, bodyBytes }: SendRequest): ShardRequest {
  const [only, another] = body.to;
  const text = only !== undefined && another === undefined ? only.address : "";
  return { projectId, text, bodyBytes, data: body.data };
}

/** Returns one response or error per call, in order. Errors affect only their call. */
async function sendAll(
  tx: Tx,
  items: readonly Item[],
  domains: Domains,
): Promise<Array<SendResponse | Error>> {
  const timestamp = now().toISOString();
  const verdicts = await decide(tx, items, domains);
  const accepted = verdicts.flatMap((verdict) => {
    if (verdict instanceof Error) return [];
    const { textsHash, template, ...said } = verdict.draft;
    const { item, from } = verdict;
    const parts = { ...said, from, ...(item.isTest ? { tracked: false, listKind: null } : {}) };
    return [{ item, content: makeContent(parts, textsHash), template }];
  });
  const recipients = accepted.flatMap(({ item, content, template }) =>
    item.body.to.map((to) => ({ item, content, template, to })),
  );
  const contacts = await upsertContacts(
    tx,
    recipients.map(({ item, to }) => ({
      projectId: item.projectId,
      email: to.address,
      ...(item.isTest ? {} : optional("subscribed", item.body.subscribed)),
      subscribedIfNew: false,
      patch: item.isTest ? NO_PATCH : item.patch,
      via: item.via,
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
  const ids = await enqueueEmails(
    tx,
    known.map(([{ item, content, template, to }, { contactId }]) => ({
      projectId: item.projectId,
      kind: "TRANSACTIONAL",
      to,
      copies: copiesOf(item.body),
      content,
      ...(template === null ? {} : { templateId: template.id }),
      ...ownerOf(item, contactId),
    })),
  );
  const responses = new Map(
    accepted.map(({ item }): [Item, SendResponse] => [
      item,
      { emails: [], ...(item.warnings.length > 0 && { warnings: item.warnings }), timestamp },
    ]),
  );
  for (const [[{ item, to }, { contactId }], email] of pairUp(known, ids))
    responses.get(item)?.emails.push({ contact: { id: contactId, email: to.address }, email });
  await storeStoredResponses(
    tx,
    [...responses].flatMap(([{ storedResponse }, body]) =>
      storedResponse === null ? [] : [{ storedResponse, answer: { status: 200, body } }],
    ),
  );
  return verdicts.map((verdict) =>
    verdict instanceof Error
      ? verdict
      : (responses.get(verdict.item) ?? new Error("A call was not answered.")),
  );
}

/** Returns the owner of the email, which is its contact. Under a test key it has none and is only rendered for the contact. */
function ownerOf({ patch, isTest }: Item, contactId: string) {
  const data = { ...patch.set, ...patch.transient };
  if (!isTest) return { contactId, variables: data };
  const variables: TestVariables = { renderAs: contactId, data };
  return { contactId: null, variables: { ...variables }, isTest, staysHere: isTest };
}

function copiesOf(body: SendBody) {
  const copies = { cc: body.cc ?? [], bcc: body.bcc ?? [] };
  return copies.cc.length + copies.bcc.length === 0 ? null : copies;
}

interface Plan {
  item: Item;
  draft: Draft;
  from: Mailbox;
}

/** Returns the content and sender of each call, or its error. Writes nothing. */
async function decide(tx: Tx, items: readonly Item[], domains: Domains): Promise<Array<Plan | Error>> {
  const keys = items.map(templateKeyOf).filter((key) => key !== null);
  const draftOf = createDrafter(await readTemplates(tx, keys));
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
  const plans = pairUp(drafted, senders).map(([{ item, draft }, from]): Plan | Error => {
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
function withoutTemplate({ projectId, body }: Item, draft: Error) {
  const isMissing = draft instanceof AppError && draft.code === "TEMPLATE_NOT_FOUND";
  return isMissing && body.from !== undefined ? { projectId, body, template: null } : draft;
}

function isAboutRights(sender: unknown): sender is AppError {
  return sender instanceof AppError && sender.code === "DOMAIN_NOT_VERIFIED";
}

/** Returns for each call the first recipient that its template must not reach. */
async function readUnreachable(tx: Tx, plans: ReadonlyArray<Plan | Error>): Promise<Array<string | null>> {
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
