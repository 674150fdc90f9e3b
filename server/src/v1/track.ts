// POST /v1/track: contact and event in one transaction, many requests in one batch (ARCHITECTURE.md, decision 1).
// Before it: routes.ts. After it: contacts/ upserts, events/ records.
import { surelyRolledBack, transaction, type Database } from "../platform/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { createGroupCommit, type GroupCommit } from "../platform/group-commit.ts";
import { storeReceipts, type Receipt } from "../platform/idempotency.ts";
import { recordEvents } from "../events/events.ts";
import type { Via } from "../contacts/consent.ts";
import { contactRefusal } from "../contacts/contacts.ts";
import { readDataPatch, readEventData } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { laneOf, optional } from "./lane.ts";

export interface TrackRequest {
  projectId: string;
  email: string;
  event: string;
  subscribed: boolean | undefined;
  data: Readonly<Record<string, unknown>> | undefined;
  receipt: Receipt | null;
  via: Via;
}

export interface TrackAnswer {
  contact: string;
  event: string;
  timestamp: string;
}

/** Three batches in flight: one fills, one is worked on, one commits. Small enough that nobody waits long for the others. */
const LANES = 3;
const MAX_BATCH = 100;

/** The door for tracked events. What one contact tracked stays in order: its events share a lane. */
export function createTracker(database: Database): GroupCommit<TrackRequest, TrackAnswer> {
  return createGroupCommit<TrackRequest, TrackAnswer>({
    lanes: LANES,
    laneOf: (request) => laneOf(request.projectId + request.email),
    maxItems: MAX_BATCH,
    run: (requests) => track(database, requests),
    hadNoEffect: surelyRolledBack,
  });
}

async function track(database: Database, requests: readonly TrackRequest[]): Promise<TrackAnswer[]> {
  const changes = requests.map((request) => ({
    projectId: request.projectId,
    email: request.email,
    ...optional("subscribed", request.subscribed),
    subscribedIfNew: true,
    patch: readDataPatch(request.data),
    via: request.via,
  }));
  try {
    const answered = await transaction(database, async (tx) => {
      const contacts = await upsertContacts(tx, changes);
      const events = await recordEvents(
        tx,
        requests.map((request, at) => ({
          projectId: request.projectId,
          contactId: contacts[at]?.contactId ?? "",
          name: request.event,
          data: readEventData(request.data),
        })),
      );
      const answers = events.map((event) => ({
        contact: event.contactId,
        event: event.id,
        timestamp: event.createdAt.toISOString(),
      }));
      await storeReceipts(
        tx,
        requests.flatMap(({ receipt }, at) =>
          receipt === null ? [] : [{ receipt, answer: { status: 200, body: answers[at] } }],
        ),
      );
      await failpoint("event.before_commit");
      return answers;
    });
    await failpoint("event.after_commit");
    return answered;
  } catch (error) {
    throw contactRefusal(error) ?? error;
  }
}
