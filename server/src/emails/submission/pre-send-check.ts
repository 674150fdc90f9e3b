// Grants permission to send the final dot of each message and records the sent ones. A crash between the two would leave the message in
// doubt, so the number of open permissions is limited.
import { isOutOfTime, tryAgain, type Database } from "../../platform/database/database.ts";
import { briefly, isCluster, splitByProject } from "../../platform/database/cluster.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { isUnavailable } from "../../platform/unavailable.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import type { DoubtBrake } from "../doubt/doubt-brake.ts";
import type { SentRecords } from "../results/outcomes.ts";
import { recordAndCheck } from "./submission-queries.ts";
import type { Lease } from "../lease/lease.ts";
import { updateInDoubt } from "../lease/lease-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import type { InDoubtLimit } from "./in-doubt-limit.ts";
import type { Ready } from "../rows/prepared.ts";
import type { RecipientChecks } from "../rows/recipients.ts";
import { channelOf } from "../rows/channel.ts";
import { kindOf } from "../rows/rules.ts";

/** The pre-send check of each email. */
export interface PreSendCheck {
  /**
   * Returns whether the email is still this sender's and still wanted. Waits while the in-doubt limit is reached. Throws if the database is
   * unreachable.
   */
  ask(mail: Ready): Promise<boolean>;
  /** Frees the email's place. `isKnown` means that its result is recorded or that it never passed. Otherwise it stays in doubt. */
  leave(mail: Ready, isKnown: boolean): void;
}

export interface Submission extends PreSendCheck, SentRecords {
  /** Ids of emails that passed and have no recorded result. */
  inDoubt(): string[];
}

export interface SubmissionOptions {
  database: Database;
  lease: Lease;
  /** The limit on emails in doubt at a time. */
  inDoubtLimit: InDoubtLimit;
  brake: DoubtBrake;
  recipients: RecipientChecks;
  /** Once aborted, no email passes. */
  ending: AbortSignal;
  log: Log;
  metrics: Metrics;
}

/** Common to the statements of a batch. */
interface Served {
  senderId: string;
  /** The project of all emails on a cluster, otherwise null. */
  projectId: string | null;
  /** Receives the ids that were successful. */
  done: Set<string>;
}

type SubmissionRequest =
  | { kind: "asking"; mail: Ready }
  | { kind: "sent"; outcome: OutcomeRow; senderId: string };

const MAX_BATCH = 200;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createPreSendCheck(options: SubmissionOptions): Submission {
  const { database, lease, inDoubtLimit, brake, ending } = options;
  const inDoubt = new Set<string>();
  /** Ids of the emails that the sender's row lists before their check. Empty on one PostgreSQL. */
  let listed = new Set<string>();
  /** Whether each project has a transaction of its own. */
  let isSplit = false;

  /**
   * Runs one statement that records a sender's sent emails and checks others. Its bulk mail must be of one project, prepared for the same
   * transports.
   */
  async function serve(
    { senderId, projectId, done }: Served,
    sent: readonly OutcomeRow[],
    plain: readonly Ready[],
    list: readonly Ready[],
  ): Promise<void> {
    const recording = new Set(sent.map(({ id }) => id));
    const checked = [...plain, ...list];
    const others = listed.difference(new Set(checked.map(({ row }) => row.id)));
    const mails = {
      projectId,
      sent,
      plain: plain.map((mail) => ({ ...keyOf(mail), chosenFor: chosenFor(mail) })),
      list: list[0] && {
        projectId: list[0].row.projectId,
        ids: list.map(({ row }) => row.id),
        chosenFor: chosenFor(list[0]),
      },
      kept: [...[...inDoubt].filter((id) => !recording.has(id)), ...others],
      watched: checked.filter(({ row }) => row.suppressionList).map(keyOf),
    };
    const run = (on: Database) => recordAndCheck(on, senderId, mails, options.recipients);
    const ends = await (projectId === null ? tryAgain(() => run(database)) : briefly(database, run));
    listed = others;
    for (const [id, end] of ends) {
      if (end === "booked") inDoubt.delete(id);
      if (end === "passed") inDoubt.add(id);
      if (end === "booked" || end === "passed") done.add(id);
    }
    for (const mail of checked) {
      const end = ends.get(mail.row.id);
      if (end === "skipped") logSkipped(mail, "its contact is not subscribed any more");
      if (end === "suppressed") logSkipped(mail, "its address was put on the suppression list");
    }
  }

  function logSkipped({ row }: Ready, why: string): void {
    options.metrics.emailOutcomes.inc({ outcome: "skipped", kind: kindOf(row.priority), transport: "" });
    options.log.info({ projectId: row.projectId, emailId: row.id }, `a mail was withdrawn: ${why}`);
  }

  /**
   * Lists emails in the sender's row before they are checked, in a transaction of its own. A check commits on its worker a moment before the
   * coordinator, and a transaction that locks an email in between must see that the email may leave.
   */
  async function listBeforeCheck(matters: readonly SubmissionRequest[]): Promise<void> {
    listed = new Set();
    if (!mayPass()) return;
    listed = new Set(matters.flatMap((matter) => (matter.kind === "asking" ? matter.mail.row.id : [])));
    if (listed.size > 0) await updateInDoubt(database, lease.senderId(), [...inDoubt.union(listed)]);
  }

  /** Removes the emails whose check failed with an error from the sender's row. If that fails, the next batch removes them. */
  async function unlist(): Promise<void> {
    if (listed.size === 0) return;
    listed = new Set();
    await updateInDoubt(database, lease.senderId(), [...inDoubt]).catch(() => undefined);
  }

  const mayPass = () => lease.isHeld() && !ending.aborted;

  /** Serves requests of any projects if `projectId` is null. Returns whether each was successful, in order. */
  async function serveAll(
    projectId: string | null,
    matters: readonly SubmissionRequest[],
  ): Promise<boolean[]> {
    const sent = matters.filter((matter) => matter.kind === "sent");
    const asking = mayPass()
      ? matters.flatMap((matter) =>
          matter.kind === "asking" && (!isSplit || listed.has(matter.mail.row.id)) ? matter.mail : [],
        )
      : [];
    if (asking.length > 0) await failpoint("sending.before_commit");
    if (sent.length > 0) await failpoint("sent.before_commit");
    const done = new Set<string>();
    const bySender = Map.groupBy(sent, ({ senderId }) => senderId);
    const by = { senderId: lease.senderId(), projectId, done };
    for (const [senderId, own] of bySender)
      if (senderId !== by.senderId) await serve({ ...by, senderId }, own.map(outcomeOf), [], []);
    const lists = [
      ...Map.groupBy(
        asking.filter(({ listKind }) => listKind !== null),
        (mail) => `${mail.row.projectId} ${chosenFor(mail) ?? ""}`,
      ).values(),
    ];
    const plain = asking.filter(({ listKind }) => listKind === null);
    const own = (bySender.get(by.senderId) ?? []).map(outcomeOf);
    if (own.length > 0 || plain.length > 0 || lists.length > 0) await serve(by, own, plain, lists[0] ?? []);
    for (const list of lists.slice(1)) await serve(by, [], [], list);
    if (asking.length > 0) await failpoint("sending.after_commit");
    if (sent.length > 0) await failpoint("sent.after_commit");
    return matters.map((matter) => done.has(emailOf(matter).id));
  }

  /** Serves each project of a batch on a cluster. */
  async function serveEach(matters: readonly SubmissionRequest[]): Promise<Array<boolean | Error>> {
    const results = new Map<SubmissionRequest, boolean | Error>();
    for (const { projectId, rows } of await splitByProject(database, matters.map(withProject))) {
      const own = rows.map(({ matter }) => matter);
      // Just before the check, because a deletion or a late reply in between takes the emails for submitted ones.
      await listBeforeCheck(own);
      for (const [matter, result] of pairUp(own, await serveProject(projectId, own)))
        results.set(matter, result);
    }
    await unlist();
    return matters.map((matter) => results.get(matter) ?? false);
  }

  /**
   * Serves the requests of one project on a cluster. A failure concerns no other project, whose node may be reachable. A single bad request
   * fails alone.
   */
  async function serveProject(
    projectId: string | null,
    matters: readonly SubmissionRequest[],
  ): Promise<Array<boolean | Error>> {
    try {
      return await serveAll(projectId, matters);
    } catch (error) {
      // A worker that hangs would use up the time limit for each request again.
      if (matters.length === 1 || isUnavailable(error) || isOutOfTime(error))
        return matters.map(() => asError(error));
      const results: Array<boolean | Error> = [];
      for (const one of matters) results.push(...(await serveProject(projectId, [one])));
      return results;
    }
  }

  // Use a single shard, and no concurrency even after a failure. Commits then happen in the order of submission, and each one knows all
  // emails that passed before it.
  const commits = createGroupCommit<SubmissionRequest, boolean>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    aloneAtOnce: 1,
    async run(matters) {
      isSplit = await isCluster(database);
      return isSplit ? serveEach(matters) : serveAll(null, matters);
    },
  });

  return {
    async ask(mail) {
      if (!(await brake.pass(mail.row))) return false;
      await inDoubtLimit.take(mail.row.id, channelOf(mail.row));
      return commits.submit({ kind: "asking", mail });
    },
    leave({ row }, isKnown) {
      if (isKnown) inDoubt.delete(row.id);
      inDoubtLimit.free(row.id);
    },
    async record(outcome, senderId) {
      const recorded = commits.submit({ kind: "sent", outcome, senderId });
      if (isSplit) {
        // The next email may be of a project whose check commits earlier.
        const isRecorded = await recorded;
        inDoubtLimit.free(outcome.id);
        return isRecorded;
      }
      // The next email is checked in this commit or a later one, so the in-doubt limit is never exceeded.
      inDoubtLimit.free(outcome.id);
      try {
        return await recorded;
      } catch (error) {
        inDoubtLimit.retake(outcome.id);
        throw error;
      }
    },
    inDoubt: () => [...inDoubt],
    drained: () => commits.drained(),
  };
}

const chosenFor = ({ chosen }: Ready): string | null => chosen?.queueVersion ?? null;
const keyOf = ({ row }: Ready) => ({ projectId: row.projectId, id: row.id });
const emailOf = (matter: SubmissionRequest) => (matter.kind === "sent" ? matter.outcome : matter.mail.row);
const withProject = (matter: SubmissionRequest) => ({ projectId: emailOf(matter).projectId, matter });
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
const outcomeOf = ({ outcome }: { outcome: OutcomeRow }) => outcome;
