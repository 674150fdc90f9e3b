// POST /v1/track: stores contact and event in one transaction, with many requests in one batch (ARCHITECTURE.md, decision 1).
import { wasRolledBack, transaction, tryAgain, type Database } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { createGroupCommit, type GroupCommit } from "../platform/background/group-commit.ts";
import { runWithoutRepeats, storeResponses, type KeyedRequest } from "../platform/http/idempotency.ts";
import { recordEvents } from "../events/events.ts";
import type { ChangeSource } from "../contacts/consent.ts";
import { readDataPatch, readEventData } from "../contacts/rules.ts";
import { upsertContacts, upsertContactsWithEvents } from "../contacts/upsert-contacts.ts";
import { pairUp } from "../platform/pair-up.ts";
import { createShards, MAX_BATCH_BYTES, optional } from "./shard.ts";

export interface TrackRequest {
  projectId: string;
  email: string;
  event: string;
  subscribed: boolean | undefined;
  data: Readonly<Record<string, unknown>> | undefined;
  /** Size of the original request. */
  bodyBytes: number;
  keyed: KeyedRequest | null;
  via: ChangeSource;
}

export interface TrackResponse {
  contact: string;
  event: string;
  timestamp: string;
}

/** Two batches in flight, so that one fills while the other is processed. Small enough to keep latency low. */
const SHARDS = 2;
const MAX_BATCH = 200;

/** Creates the ingest endpoint of tracked events. Events of one contact stay in order, because they share a shard. */
export function createTracker(database: Database): GroupCommit<TrackRequest, TrackResponse> {
  const shards = createShards(SHARDS);
  const asShardRequest = ({ projectId, email, bodyBytes, data }: TrackRequest) => ({
    projectId,
    text: email,
    bodyBytes,
    data,
  });
  const { submit, drained } = createGroupCommit<TrackRequest, TrackResponse>({
    shards: shards.count,
    shardOf: (request) => shards.shardOf(asShardRequest(request)),
    maxItems: MAX_BATCH,
    weightOf: ({ bodyBytes }) => bodyBytes,
    maxWeight: MAX_BATCH_BYTES,
    run: (requests) =>
      runWithoutRepeats(
        requests,
        ({ keyed }) => (keyed === null ? [] : [keyed]),
        (some) => track(database, some),
      ),
    hadNoEffect: wasRolledBack,
  });
  return {
    submit: (request) => shards.during(asShardRequest(request), () => submit(request)),
    drained,
  };
}

async function track(database: Database, requests: readonly TrackRequest[]): Promise<TrackResponse[]> {
  const isPlain = requests.every(({ subscribed, keyed }) => subscribed === undefined && keyed === null);
  const responses = await (isPlain ? trackPlain : trackAny)(database, requests);
  await failpoint("event.after_commit");
  return responses;
}

/**
 * Handles most requests, which have only data and an event, in a single statement. No failpoint can be between the statement and its
 * commit.
 */
async function trackPlain(database: Database, requests: readonly TrackRequest[]): Promise<TrackResponse[]> {
  const happenings = requests.map((request) => ({
    change: changeOf(request),
    event: request.event,
    data: readEventData(request.data),
  }));
  await failpoint("event.before_commit");
  return (await tryAgain(() => upsertContactsWithEvents(database, happenings))).map(responseOf);
}

async function trackAny(database: Database, requests: readonly TrackRequest[]): Promise<TrackResponse[]> {
  const changes = requests.map((request) => ({
    ...changeOf(request),
    ...optional("subscribed", request.subscribed),
  }));
  return transaction(database, async (tx) => {
    const contacts = await upsertContacts(tx, changes);
    const events = await recordEvents(
      tx,
      pairUp(requests, contacts).map(([request, { contactId }]) => ({
        projectId: request.projectId,
        contactId,
        name: request.event,
        data: readEventData(request.data),
        fromPublicKey: request.via.fromPublicKey,
      })),
    );
    const responses = events.map(responseOf);
    await storeResponses(
      tx,
      pairUp(requests, responses).flatMap(([{ keyed }, body]) =>
        keyed === null ? [] : [{ request: keyed, response: { status: 200, body } }],
      ),
    );
    await failpoint("event.before_commit");
    return responses;
  });
}

function changeOf({ projectId, email, data, via }: TrackRequest) {
  return { projectId, email, subscribedIfNew: true, patch: readDataPatch(data), via };
}

function responseOf(event: { contactId: string; id: string; createdAt: Date }): TrackResponse {
  return { contact: event.contactId, event: event.id, timestamp: event.createdAt.toISOString() };
}
