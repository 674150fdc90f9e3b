// The gate: commits "handover is imminent" for mails that are about to leave, many in one statement, and says which may.
// Before it: a transport asks, just before the final dot. After it: the dot, or nothing.
import type { Database } from "../platform/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { createGroupCommit } from "../platform/group-commit.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { batchedOf, type Desk } from "./desk.ts";
import type { DoubtBrake } from "./doubt-brake.ts";
import type { Lease } from "./lease.ts";
import type { Places } from "./places.ts";
import type { Ready } from "./prepare-emails.ts";
import { kindOf, NOT_SUBSCRIBED } from "./rules.ts";
import { markListSending, markSending } from "./sender-queries.ts";

export interface Gate {
  /**
   * Whether the mail is this sender's to hand over, and wanted. From a yes until `leave` it would be in doubt if this process
   * died: while as many are as may be, whoever asks waits. Throws when the database is away.
   */
  ask(mail: Ready): Promise<boolean>;
  /** The mail makes room for another. `isKnown`: what came of it is booked, or it never passed; else it stays in doubt. */
  leave(mail: Ready, isKnown: boolean): void;
}

const MAX_BATCH = 200;

export interface GateOptions {
  database: Database;
  lease: Lease;
  /** As many as mails may be in doubt at once. */
  places: Places;
  desk: Desk;
  brake: DoubtBrake;
  log: Log;
  metrics: Metrics;
}

export function createGate(options: GateOptions): Gate {
  const { database, lease, places, desk, brake, log, metrics } = options;

  async function passPlain(mails: readonly Ready[]): Promise<Iterable<string>> {
    return mails.length === 0 ? [] : markSending(database, lease.senderId(), mails.map(keyOf));
  }

  /** Mail to lists, a statement for each project: it looks at contacts, and locks them. */
  async function passList(mails: readonly Ready[]): Promise<string[]> {
    const byProject = Map.groupBy(mails, ({ row }) => row.project_id);
    const passed: string[] = [];
    for (const [projectId, own] of byProject) {
      const ids = own.map(({ row }) => row.id);
      const marked = await markListSending(database, lease.senderId(), projectId, ids, NOT_SUBSCRIBED);
      passed.push(...marked.sending);
      for (const { row } of own.filter((mail) => marked.skipped.includes(mail.row.id))) {
        metrics.emailOutcomes.inc({ outcome: "skipped", kind: kindOf(row.priority), transport: "" });
        log.info(
          { projectId, emailId: row.id },
          "a mail was withdrawn: its contact is not subscribed any more",
        );
      }
    }
    return passed;
  }

  const commits = createGroupCommit<Ready, boolean>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_BATCH,
    async run(mails) {
      if (!lease.isHeld()) return mails.map(() => false);
      await failpoint("sending.before_commit");
      const passed = new Set([
        ...(await passPlain(mails.filter(({ listKind }) => listKind === null))),
        ...(await passList(mails.filter(({ listKind }) => listKind !== null))),
      ]);
      await failpoint("sending.after_commit");
      return mails.map(({ row }) => passed.has(row.id));
    },
  });
  return {
    async ask(mail) {
      if (!(await brake.pass(mail.row))) return false;
      const batched = batchedOf(mail.row);
      if (batched !== null && (await desk.ask(batched, mail.listKind !== null))) return true;
      // It has a row, maybe since somebody asked for it.
      await places.take(mail.row.id);
      return commits.submit(mail);
    },
    leave(mail, isKnown) {
      if (isKnown) desk.settle(mail.row.id);
      places.free(mail.row.id);
    },
  };
}

function keyOf({ row }: Ready): { projectId: string; id: string } {
  return { projectId: row.project_id, id: row.id };
}
