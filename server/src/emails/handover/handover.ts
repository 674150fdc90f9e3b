// The handover of mails: each asks here, just before the final dot, whether it may leave, and is booked here when it was sent. From a yes
// until it is booked a mail would be in doubt if this process died: only as many are as there are places.
import { tryAgain, type Database } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { createGroupCommit } from "../../platform/group-commit.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import type { DoubtBrake } from "../doubt/doubt-brake.ts";
import { bookAndCheck } from "./handover-queries.ts";
import type { Lease } from "../sending/lease.ts";
import type { OutcomeRow } from "../booking/outcome-queries.ts";
import type { InDoubtLimit } from "./in-doubt-limit.ts";
import type { Ready } from "../sending/prepare-emails.ts";
import type { RecipientChecks } from "../outbox/recipients.ts";
import { kindOf } from "../outbox/rules.ts";

/** The last question of each mail. */
export interface HandoverCheck {
  /**
   * Whether the mail is this sender's to hand over, and wanted. While as many are in doubt as may be, whoever asks waits. Throws
   * when the database is away.
   */
  ask(mail: Ready): Promise<boolean>;
  /** The mail makes room for another. `isKnown`: what came of it is booked, or it never passed; else it stays in doubt. */
  leave(mail: Ready, isKnown: boolean): void;
}

export interface Handover extends HandoverCheck {
  /**
   * Books a mail that was sent; false when it is not its sender's any more. Another may take its place with that. Throws when the
   * database is away, and the mail keeps its place.
   */
  book(outcome: OutcomeRow, senderId: string): Promise<boolean>;
  /** Mails that have passed and of which nothing more is known. */
  inDoubt(): string[];
  drained(): Promise<void>;
}

export interface HandoverOptions {
  database: Database;
  lease: Lease;
  /** As many as mails may be in doubt at once. */
  inDoubtLimit: InDoubtLimit;
  brake: DoubtBrake;
  recipients: RecipientChecks;
  /** From its abort on no mail passes. */
  ending: AbortSignal;
  log: Log;
  metrics: Metrics;
}

type Matter = { kind: "asking"; mail: Ready } | { kind: "sent"; outcome: OutcomeRow; senderId: string };

const MAX_BATCH = 200;

export function createHandover(options: HandoverOptions): Handover {
  const { database, lease, inDoubtLimit, brake, ending } = options;
  const inDoubt = new Set<string>();

  /** One statement: what one sender sent, and who asks; of mails to lists those of one project. Adds to `done`. */
  async function serve(
    senderId: string,
    sent: readonly OutcomeRow[],
    plain: readonly Ready[],
    list: readonly Ready[],
    done: Set<string>,
  ): Promise<void> {
    const booking = new Set(sent.map(({ id }) => id));
    const mails = {
      sent,
      plain: plain.map(keyOf),
      list: list[0] && { projectId: list[0].row.projectId, ids: list.map(({ row }) => row.id) },
      kept: [...inDoubt].filter((id) => !booking.has(id)),
      watched: [...plain, ...list].filter(({ row }) => row.suppressionList).map(keyOf),
    };
    const ends = await tryAgain(() => bookAndCheck(database, senderId, mails, options.recipients));
    for (const [id, end] of ends) {
      if (end === "booked") inDoubt.delete(id);
      if (end === "passed") inDoubt.add(id);
      if (end === "booked" || end === "passed") done.add(id);
    }
    for (const mail of [...plain, ...list]) {
      const end = ends.get(mail.row.id);
      if (end === "skipped") tellSkipped(mail, "its contact is not subscribed any more");
      if (end === "suppressed") tellSkipped(mail, "its address was put on the suppression list");
    }
  }

  function tellSkipped({ row }: Ready, why: string): void {
    options.metrics.emailOutcomes.inc({ outcome: "skipped", kind: kindOf(row.priority), transport: "" });
    options.log.info({ projectId: row.projectId, emailId: row.id }, `a mail was withdrawn: ${why}`);
  }

  // One lane, and one at a time also after a failure: what is submitted later commits later, and knows who has passed before it.
  const commits = createGroupCommit<Matter, boolean>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_BATCH,
    aloneAtOnce: 1,
    async run(matters) {
      const sent = matters.filter((matter) => matter.kind === "sent");
      const mayPass = lease.isHeld() && !ending.aborted;
      const asking = mayPass
        ? matters.flatMap((matter) => (matter.kind === "asking" ? matter.mail : []))
        : [];
      if (asking.length > 0) await failpoint("sending.before_commit");
      if (sent.length > 0) await failpoint("sent.before_commit");
      const done = new Set<string>();
      const bySender = Map.groupBy(sent, ({ senderId }) => senderId);
      const ownId = lease.senderId();
      for (const [senderId, own] of bySender)
        if (senderId !== ownId) await serve(senderId, own.map(outcomeOf), [], [], done);
      const lists = [
        ...Map.groupBy(
          asking.filter(({ listKind }) => listKind !== null),
          ({ row }) => row.projectId,
        ).values(),
      ];
      const plain = asking.filter(({ listKind }) => listKind === null);
      const own = (bySender.get(ownId) ?? []).map(outcomeOf);
      if (own.length > 0 || plain.length > 0 || lists.length > 0)
        await serve(ownId, own, plain, lists[0] ?? [], done);
      for (const list of lists.slice(1)) await serve(ownId, [], [], list, done);
      if (asking.length > 0) await failpoint("sending.after_commit");
      if (sent.length > 0) await failpoint("sent.after_commit");
      return matters.map((matter) =>
        done.has(matter.kind === "sent" ? matter.outcome.id : matter.mail.row.id),
      );
    },
  });

  return {
    async ask(mail) {
      if (!(await brake.pass(mail.row))) return false;
      await inDoubtLimit.take(mail.row.id);
      return commits.submit({ kind: "asking", mail });
    },
    leave({ row }, isKnown) {
      if (isKnown) inDoubt.delete(row.id);
      inDoubtLimit.free(row.id);
    },
    async book(outcome, senderId) {
      const booked = commits.submit({ kind: "sent", outcome, senderId });
      // Whoever takes the place asks later, so in this commit or after it: never more are in doubt than there are places.
      inDoubtLimit.free(outcome.id);
      try {
        return await booked;
      } catch (error) {
        inDoubtLimit.retake(outcome.id);
        throw error;
      }
    },
    inDoubt: () => [...inDoubt],
    drained: () => commits.drained(),
  };
}

const keyOf = ({ row }: Ready) => ({ projectId: row.projectId, id: row.id });
const outcomeOf = ({ outcome }: { outcome: OutcomeRow }) => outcome;
