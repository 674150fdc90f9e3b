// Tests that emails submitted without a reply are retried once or wait for a person, depending on the project.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { expireLease, OUTBOX_WAIT, markInDoubt, useOutbox } from "../../testing/outbox-fixture.ts";
import {
  createScriptedTransport,
  refuseWith,
  takeEverything,
  type Play,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { erasedPeople } from "../../testing/erased-people.ts";
import { skipCampaignEmails } from "../outbox/campaign-queries.ts";
import { dropHeldEmails } from "../lease/held-queries.ts";
import { eraseRecipients } from "../outbox/erase-queries.ts";
import { findTrial, type PausedRow } from "../throttling/throttled-queries.ts";

const outbox = useOutbox();
let transport: ScriptedTransport;
beforeEach(() => {
  transport = createScriptedTransport();
});

const noReply: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? { kind: "uncertain", answer: "no reply after the dot" } : { kind: "withdrawn" };

const waitForAPerson = () =>
  sql`update project_queues set when_in_doubt = 'WAIT' where project_id = ${outbox.projectId}`.execute(
    outbox.database,
  );
const makeDue = () => sql`update emails set due_at = now() where status = 'QUEUED'`.execute(outbox.database);
const untilAttempts = (id: string, attempts: number) =>
  vi.waitFor(
    async () => expect(await outbox.row(id)).toMatchObject({ status: "QUEUED", attempts }),
    OUTBOX_WAIT,
  );

test("sends transactional email in doubt only once if the project wants a person to decide", async () => {
  await waitForAPerson();
  transport.play = noReply;
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  await outbox.start(transport);
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(1);
});

test("does not retry email of a dead sender if the project wants a person to decide", async () => {
  await waitForAPerson();
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  const dead = newId();
  await markInDoubt(outbox.database, dead, id);
  await expireLease(outbox.database, dead);
  await outbox.start(transport);
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(0);
});

test("does not count a temporary error as a doubt and still allows one retry", async () => {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  transport.play = refuseWith({ kind: "deferred", answer: "451 later" });
  const sender = await outbox.start(transport);
  await untilAttempts(id, 1);
  transport.play = noReply;
  for (const attempts of [2, 3]) {
    await makeDue();
    sender.wake();
    if (attempts === 2) await untilAttempts(id, 2);
  }
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(2);
});

const unsubscribe = () => sql`update contacts set subscribed = false`.execute(outbox.database);
const suppress = (email: string) =>
  sql`insert into suppressions (project_id, id, email, reason)
    values (${outbox.projectId}, ${newId()}, ${email}, 'MANUAL')`.execute(outbox.database);
const useSuppressionList = () =>
  sql`update project_queues set suppression_list = true where project_id = ${outbox.projectId}`.execute(
    outbox.database,
  );
const rejection = (answer: string): Play => refuseWith({ kind: "rejected", answer });
/** Runs `happens` at the last byte before the dot. */
const atTheDot =
  (happens: () => Promise<unknown>): Play =>
  async (message, mayLeave) => {
    await happens();
    return takeEverything(message, mayLeave);
  };

/** Creates an email without a reply to its first attempt, and the sender that will retry it. */
async function inDoubt(to: string) {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL", listKind: "MARKETING", to }]);
  transport.play = noReply;
  const sender = await outbox.start(transport);
  await untilAttempts(id, 1);
  return { id, sender };
}

interface End {
  what: string;
  /** Runs before the retry. */
  before?: () => Promise<unknown>;
  play: Play;
  reason: RegExp;
  attempts: number;
}
const TO = "ada@example.com";
const ENDS: readonly End[] = [
  { what: "is rejected", play: rejection("554 5.7.1 no"), reason: /^554 5\.7\.1 no$/, attempts: 2 },
  {
    what: "is skipped because its contact unsubscribed",
    before: unsubscribe,
    play: takeEverything,
    reason: /not subscribed/,
    attempts: 1,
  },
  {
    what: "is withdrawn at the dot because its contact unsubscribed",
    play: atTheDot(unsubscribe),
    reason: /not subscribed/,
    attempts: 1,
  },
  {
    what: "is withdrawn at the dot because its address was suppressed",
    before: useSuppressionList,
    play: atTheDot(() => suppress(TO)),
    reason: /suppression list/,
    attempts: 1,
  },
];

test.each(ENDS)(
  "marks an email in doubt as unconfirmed when its retry $what",
  async ({ before, play, reason, attempts }) => {
    const { id, sender } = await inDoubt(TO);
    await before?.();
    transport.play = play;
    await makeDue();
    sender.wake();
    await outbox.until(id, "UNCONFIRMED");
    expect(await outbox.row(id)).toMatchObject({ attempts, reason: expect.stringMatching(reason) });
    expect(transport.handedOver).toHaveLength(1);
  },
);

test("marks an email in doubt as unconfirmed when its contact is deleted before the retry", async () => {
  const { id } = await inDoubt(TO);
  const { contactId } = await outbox.row(id);
  await transaction(outbox.database, (tx) =>
    eraseRecipients(tx, outbox.projectId, erasedPeople([contactId ?? ""])),
  );
  expect(await outbox.row(id)).toMatchObject({
    status: "UNCONFIRMED",
    reason: "The contact was deleted.",
    attempts: 1,
  });
});

test("marks emails in doubt as unconfirmed when they are dropped or cancelled before the retry", async () => {
  const campaignId = newId();
  const [held = "", cancelled = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }, { campaignId }]);
  for (const id of [held, cancelled])
    await sql`
      with attempt as (
        insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
        values (${outbox.projectId}, ${id}, 1, 'uncertain', 'no reply', 'smtp'))
      update emails set attempts = 1, due_at = 'infinity' where id = ${id}`.execute(outbox.database);
  await transaction(outbox.database, async (tx) => {
    await dropHeldEmails(tx, outbox.projectId, "dropped");
    await skipCampaignEmails(tx, { projectId: outbox.projectId, campaignId }, "cancelled", 10);
  });
  expect(await outbox.row(held)).toMatchObject({ status: "UNCONFIRMED", reason: "dropped" });
  expect(await outbox.row(cancelled)).toMatchObject({ status: "UNCONFIRMED", reason: "cancelled" });
});

test("counts a rejected canary even if an earlier attempt was in doubt", async () => {
  const { id, sender } = await inDoubt(TO);
  await sql`
    insert into paused_destinations (project_id, destination, domains, answer, try_at, trial_ids, tried_at)
    values (${outbox.projectId}, 'example.com', '{example.com}', 'no', now(), ${[id]}::uuid[], now())`.execute(
    outbox.database,
  );
  transport.play = refuseWith({ kind: "rejected", answer: "554 5.7.1 still no", meaning: "policy" });
  await makeDue();
  sender.wake();
  await outbox.until(id, "UNCONFIRMED");
  const paused = { projectId: outbox.projectId, campaignId: null, destination: "example.com" };
  const trial = await transaction(outbox.database, (tx) => findTrial(tx, paused as PausedRow, 60));
  expect(trial).toMatchObject({ ended: 1, refused: 1, answer: "554 5.7.1 still no" });
});

test("marks an email as failed on rejection if a person resolved its doubt as failed", async () => {
  const { id, sender } = await inDoubt(TO);
  await sql`
    insert into email_resolutions (project_id, email_id, attempt, resolved_as, resolved_by)
    values (${outbox.projectId}, ${id}, 1, 'failed', 'ada')`.execute(outbox.database);
  transport.play = rejection("554 5.7.1 no");
  await makeDue();
  sender.wake();
  await outbox.until(id, "FAILED");
  expect(await outbox.row(id)).toMatchObject({ attempts: 2 });
});
