// The desk: mails of batches ask here whether they may leave, and come back to be booked when they have left. Both at one desk, in
// one statement after the other: with the booking of a mail the next one may leave, and never before it.
// Before it: gate.ts and outcomes.ts pass them on. After it: desk-queries.ts.
import type { Database } from "../platform/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { createGroupCommit } from "../platform/group-commit.ts";
import { bookAndPass, type BatchedMail } from "./desk-queries.ts";
import type { Lease } from "./lease.ts";
import type { OutcomeRow } from "./outcome-queries.ts";
import type { Places } from "./places.ts";
import type { ClaimedRow } from "./sender-queries.ts";

export interface Desk {
  /** Whether a mail may leave; false also for one that has a row. Waits for a place. Throws when the database is away. */
  ask(mail: BatchedMail, isToList: boolean): Promise<boolean>;
  /**
   * Books a mail that was sent; false for one that has a row. Another may take its place with that. Throws when the database is
   * away, and the mail keeps its place.
   */
  book(mail: BatchedMail, outcome: OutcomeRow): Promise<boolean>;
  /** What came of a mail is booked elsewhere, or it never left. */
  settle(id: string): void;
  /** The batches of which mails have passed and nothing more is known. */
  batchesInDoubt(): string[];
  drained(): Promise<void>;
}

type Matter =
  | { kind: "asking"; mail: BatchedMail; isToList: boolean }
  | { kind: "sent"; mail: BatchedMail; outcome: OutcomeRow };

const MAX_BATCH = 200;

export function createDesk({
  database,
  lease,
  places,
}: {
  database: Database;
  lease: Lease;
  places: Places;
}): Desk {
  /** By the ids of mails that have passed and of which nothing more is known, their batches. */
  const inDoubt = new Map<string, string>();

  /** Answers the ids of those that were booked or may leave. */
  async function serve(projectId: string, matters: readonly Matter[]): Promise<Set<string>> {
    const sent = matters.filter((matter) => matter.kind === "sent");
    const asking = matters.filter((matter) => matter.kind === "asking");
    if (asking.length > 0) await failpoint("sending.before_commit");
    if (sent.length > 0) await failpoint("sent.before_commit");
    // Among them those that are booked by this: then they have rows.
    const kept = [...inDoubt.keys()];
    const mayLeave = lease.isHeld() ? asking : [];
    const { booked, passed } = await bookAndPass(database, lease.senderId(), projectId, sent, mayLeave, kept);
    for (const id of booked) inDoubt.delete(id);
    const batchOf = new Map(asking.map(({ mail }) => [mail.id, mail.batchId]));
    for (const id of passed) inDoubt.set(id, batchOf.get(id) ?? "");
    if (asking.length > 0) await failpoint("sending.after_commit");
    if (sent.length > 0) await failpoint("sent.after_commit");
    return new Set([...booked, ...passed]);
  }

  // One lane: what is submitted later commits later.
  const commits = createGroupCommit<Matter, boolean>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_BATCH,
    async run(matters) {
      const done = new Set<string>();
      for (const [projectId, own] of Map.groupBy(matters, ({ mail }) => mail.projectId))
        for (const id of await serve(projectId, own)) done.add(id);
      return matters.map(({ mail }) => done.has(mail.id));
    },
  });
  return {
    async ask(mail, isToList) {
      await places.take(mail.id);
      return commits.submit({ kind: "asking", mail, isToList });
    },
    async book(mail, outcome) {
      const booked = commits.submit({ kind: "sent", mail, outcome });
      places.free(mail.id);
      try {
        return await booked;
      } catch (error) {
        places.retake(mail.id);
        throw error;
      }
    },
    settle: (id) => void inDoubt.delete(id),
    batchesInDoubt: () => [...new Set(inDoubt.values())],
    drained: () => commits.drained(),
  };
}

/** Null for a mail that has a row since it was enqueued, or claimed. */
export function batchedOf(row: ClaimedRow): BatchedMail | null {
  if (row.batch_id === null || row.batch_claim === null || row.campaign_id === null) return null;
  return {
    projectId: row.project_id,
    id: row.id,
    batchId: row.batch_id,
    batchClaim: row.batch_claim,
    campaignId: row.campaign_id,
    contactId: row.contact_id,
    contentId: row.content_id,
    toAddress: row.to_address,
  };
}
