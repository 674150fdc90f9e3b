// Checks calls of POST /v1/send and of batches, and commits many of them in one transaction.
import type { SendBody } from "@postloft/contract/v1.ts";
import { LRUCache } from "lru-cache";
import {
  wasRolledBack,
  transaction,
  subtransaction,
  type Database,
  type Tx,
} from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { asAppError } from "../platform/http/errors.ts";
import {
  runWithoutRepeats,
  storeResponses,
  type KeyedRequest,
  type StoredResponse,
} from "../platform/http/idempotency.ts";
import { pairUp } from "../platform/pair-up.ts";
import { AppError } from "../platform/app-error.ts";
import { readScheduledFor } from "../emails/rows/scheduled-for.ts";
import { hashTexts, type RawMessage } from "../emails/outbox/emails.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { withPreviewText } from "../rendering/with-preview-text.ts";
import { createCapCheck } from "../billing/caps.ts";
import type { Domains } from "../domains/domains.ts";
import { CONTACT_CONSTRAINTS } from "../contacts/constraint-errors.ts";
import { readDataPatch, type DataPatch } from "../contacts/rules.ts";
import { checkContent } from "../templates/check-content.ts";
import type { Warning } from "../templates/warnings.ts";
import { acceptSends, type SendCall, type SendItem, type SendResponse } from "./accept-sends.ts";
import { ownTexts, partsOf, type Parts } from "./draft-content.ts";
import { createShards, MAX_BATCH_BYTES, type ShardRequest } from "./shard.ts";
import { createSendWarner, ignoredField } from "./send-warnings.ts";

/** One call with one or several checked emails. All of them are stored in the same transaction. */
export interface SendUnit {
  items: readonly SendItem[];
  /** Size of the original request. */
  bodyBytes: number;
  /** Stores the response of the whole call, in addition to the responses of its items. */
  store: {
    request: KeyedRequest;
    responseOf: (results: readonly SendResult[]) => StoredResponse;
  } | null;
}

export type SendResult = SendResponse | Error;

export interface SendEndpoint {
  /**
   * Checks everything about a call that needs no lock.
   * @throws AppError about the call
   */
  check(call: SendCall): Promise<SendItem>;
  /**
   * Checks a call with a raw message instead of texts, which is sent without rendering.
   * @throws AppError about the call
   */
  checkRaw(call: SendCall, raw: RawMessage): Promise<SendItem>;
  /** Stores the emails, and returns a result for each item, in order. If it throws, no email of the unit was stored. */
  accept(unit: SendUnit): Promise<readonly SendResult[]>;
  /** Checks and accepts one call. @throws AppError about the call */
  send(call: SendCall & { bodyBytes: number }): Promise<SendResponse>;
}

/**
 * Two batches in flight, so that one fills while the other commits. Calls to the same address share a shard. Heavy ones and those with
 * several emails have a separate one.
 */
const SHARDS = 2;
/** Calls can be large, so this limits the number in one batch. */
const MAX_BATCH = 50;
/** The least weight of an email, so that a transaction has up to about a thousand of them. */
const MIN_EMAIL_BYTES = 1_024;
/** How often the emails of one call are tried in smaller groups, to find those that the database rejects. */
const MAX_TRIALS = 100;
const MAX_CHECKED_CONTENTS = 2_000;

export function createSendEndpoint(options: {
  database: Database;
  renderer: AskedRenderer;
  domains: Domains;
}): SendEndpoint {
  const { database, domains } = options;
  const checkTexts = createTextCheck(options);
  const requireRoom = createCapCheck(database);

  const shards = createShards(SHARDS);
  const commits = createGroupCommit<SendUnit, readonly SendResult[]>({
    shards: shards.count,
    shardOf: (unit) => shards.shardOf(asShardRequest(unit)),
    maxItems: MAX_BATCH,
    weightOf: ({ items, bodyBytes }) => Math.max(bodyBytes, items.length * MIN_EMAIL_BYTES),
    maxWeight: MAX_BATCH_BYTES,
    run: (units) =>
      runWithoutRepeats(units, keysOf, (some) =>
        transaction(database, (tx) => acceptUnits(tx, some, domains)),
      ),
    hadNoEffect: wasRolledBack,
  });

  /** Checks the cap and the time of a call, and returns the time. */
  async function checkRoomAndTime({ projectId, isTest, body }: SendCall): Promise<Date | undefined> {
    if (!isTest) await requireRoom(projectId, "transactional", body.to.length);
    // Not part of the body's schema, because a retry after that time must get the stored response.
    return body.scheduledFor === undefined ? undefined : readScheduledFor(body.scheduledFor);
  }
  async function check(call: SendCall): Promise<SendItem> {
    const { body, unknownFields = [] } = call;
    const scheduledFor = await checkRoomAndTime(call);
    const parts = partsOf(body);
    const texts = ownTexts(body, parts);
    const warnings = [...(await checkTexts(call, parts, texts?.hash)), ...unknownFields.map(ignoredField)];
    return { ...call, parts, texts, patch: patchOf(body), warnings, scheduledFor };
  }
  async function checkRaw(call: SendCall, raw: RawMessage): Promise<SendItem> {
    const { body } = call;
    const scheduledFor = await checkRoomAndTime(call);
    const parts = { ...partsOf(body), raw };
    const texts = ownTexts(body, parts);
    return { ...call, parts, texts, patch: readDataPatch({}), warnings: [], scheduledFor };
  }
  async function accept(unit: SendUnit): Promise<readonly SendResult[]> {
    return shards.during(asShardRequest(unit), () => commits.submit(unit));
  }

  return {
    check,
    checkRaw,
    accept,
    async send({ bodyBytes, ...call }) {
      const [result] = await accept({ items: [await check(call)], bodyBytes, store: null });
      if (result === undefined || result instanceof Error) throw result ?? new Error("A call has no result.");
      return result;
    },
  };
}

/** Returns the data of a call. Its `locale` is a value for these emails only, because other emails may be in another language. */
function patchOf({ data, locale }: SendBody): DataPatch {
  const patch = readDataPatch(data);
  return locale === undefined ? patch : { ...patch, transient: { ...patch.transient, locale } };
}

/**
 * Returns the function that validates a call's own texts and returns the warnings. Those of a template were validated when it was saved.
 */
function createTextCheck({ database, renderer }: { database: Database; renderer: AskedRenderer }) {
  /** Hashes of validated texts, so that repeated texts are not validated again. */
  const checked = new LRUCache<string, true>({ max: MAX_CHECKED_CONTENTS });
  const warn = createSendWarner(database);
  return async (
    { projectId, body }: SendCall,
    parts: Parts,
    hash: string | undefined,
  ): Promise<readonly Warning[]> => {
    const own = { subject: parts.subject ?? "", html: parts.html ?? "", text: parts.text };
    const previewText = parts.previewText ?? null;
    const texts = [own.subject, previewText ?? "", own.html, own.text ?? ""];
    if (texts.every((part) => part === "")) return [];
    const key = hash ?? `template ${hashTexts({ ...own, html: withPreviewText(own.html, previewText) })}`;
    const hasVariables = texts.some((part) => part.includes("{{"));
    if (hasVariables && !checked.has(key)) {
      // Validates with a footer too, because the template may have one.
      await checkContent(
        renderer,
        projectId,
        { ...own, previewText },
        body.template !== undefined && parts.html !== null,
      );
      checked.set(key, true);
    }
    return warn({ projectId, parts, key, data: body.data });
  };
}

const keysOf = ({ items, store }: SendUnit) =>
  [...items.map(({ keyed }) => keyed), store?.request ?? null].filter((key) => key !== null);

/** Calls with one email to the same address share a shard. */
function asShardRequest({ items, bodyBytes }: SendUnit): ShardRequest {
  const [only, another] = items;
  const [to, copy] = only?.body.to ?? [];
  const text = to !== undefined && copy === undefined ? to.address : "";
  const { projectId = "", body } = only ?? {};
  return { projectId, text, bodyBytes, data: body?.data, isBatch: another !== undefined };
}

/** Accepts the emails of units, and stores the responses of keyed emails and units. */
async function acceptUnits(
  tx: Tx,
  units: readonly SendUnit[],
  domains: Domains,
): Promise<Array<readonly SendResult[]>> {
  const items = units.flatMap((unit) => unit.items);
  const accept = async (some: readonly SendItem[]) =>
    some.length === 0 ? [] : acceptSends(tx, some, domains);
  // The emails of several units are not tried in groups, because the group commit tries each unit alone.
  const [only, another] = units;
  const isSplit = another === undefined && only !== undefined && only.items.length > 1;
  const all = isSplit ? await acceptInGroups(tx, items, accept) : await accept(items);
  let end = 0;
  const results = units.map((unit) => all.slice(end, (end += unit.items.length)));
  await storeResponses(tx, [
    ...pairUp(items, all).flatMap(([{ keyed }, result]) =>
      keyed === null || result instanceof Error
        ? []
        : [{ request: keyed, response: { status: 200, body: result } }],
    ),
    ...pairUp(units, results).flatMap(([{ store }, own]) =>
      store === null ? [] : [{ request: store.request, response: store.responseOf(own) }],
    ),
  ]);
  return results;
}

/**
 * Accepts emails together. If the database rejects the data of a contact, tries ever smaller groups, so that only the invalid emails fail.
 * @throws the error of the last trial if too many emails are invalid
 */
async function acceptInGroups(
  tx: Tx,
  items: readonly SendItem[],
  accept: (items: readonly SendItem[]) => Promise<SendResult[]>,
): Promise<SendResult[]> {
  let trials = 0;
  async function attempt(group: readonly SendItem[]): Promise<SendResult[]> {
    trials += 1;
    try {
      return await subtransaction(tx, () => accept(group));
    } catch (error) {
      const rejection = rejectionOf(error);
      if (rejection === null || trials >= MAX_TRIALS) throw error;
      if (group.length === 1) return [rejection];
      const middle = Math.ceil(group.length / 2);
      return [...(await attempt(group.slice(0, middle))), ...(await attempt(group.slice(middle)))];
    }
  }
  return attempt(items);
}

/** Returns the error for an email whose contact the database rejects, or null for any other error. */
function rejectionOf(error: unknown): AppError | null {
  if (error instanceof AppError) return null;
  const known = asAppError(error, CONTACT_CONSTRAINTS);
  return known?.code === "VALIDATION_ERROR" ? known : null;
}
