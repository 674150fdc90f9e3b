// Tests that reports are recorded once per kind, forward only, in any order and concurrently. Covers returned-emails.ts, and outcomes.ts
// for reports that arrive before the result.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { addLateSent } from "../../events/counts.ts";
import { createScriptedTransport, TAKEN } from "../../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { advanceEmails, type EmailStep } from "./returned-emails.ts";
import type { Outcome } from "../../transports/transport.ts";
import type { ReturnedStatus } from "../rows/rules.ts";

const outbox = useOutbox();
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const step = (id: string, status: ReturnedStatus, second = 0): EmailStep => ({
  projectId: outbox.projectId,
  id,
  status,
  at: at(second),
});
const advance = (...steps: EmailStep[]) =>
  transaction(outbox.database, (tx) => advanceEmails(tx, steps, addLateSent));

async function mailAt(status: string): Promise<string> {
  const [id = ""] = await outbox.enqueue([{}]);
  const sentAt = status === "SENT" ? at(0) : null;
  await outbox.database.updateTable("emails").set({ status, sentAt }).where("id", "=", id).execute();
  return id;
}

async function instantsOf(id: string) {
  const row = await outbox.database
    .selectFrom("emails")
    .select(["status", "sentAt", "deliveredAt", "openedAt", "clickedAt", "bouncedAt", "complainedAt"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      value === null ? [] : [[name, value instanceof Date ? value.getUTCSeconds() : value]],
    ),
  );
}

test("records each step once and returns which were the first of their kind", async () => {
  const [one, other] = [await mailAt("SENT"), await mailAt("SENT")];
  const taken = await advance(
    step(one, "CLICKED", 5),
    step(one, "OPENED", 4),
    step(one, "OPENED", 3),
    step(other, "DELIVERED", 2),
    step(one, "CLICKED", 6),
  );
  expect(taken.map(({ id, status, isFirst }) => [id === one, status, isFirst])).toEqual([
    [true, "CLICKED", true],
    [true, "OPENED", true],
    [true, "OPENED", false],
    [false, "DELIVERED", true],
    [true, "CLICKED", false],
  ]);
  expect(await instantsOf(one)).toEqual({ status: "CLICKED", sentAt: 0, openedAt: 3, clickedAt: 5 });
  expect(
    (await advance(step(one, "OPENED", 9), step(other, "OPENED", 9))).map(({ isFirst }) => isFirst),
  ).toEqual([false, true]);
});

test.each([
  [["OPENED", "DELIVERED"], "OPENED"],
  [["CLICKED", "OPENED"], "CLICKED"],
  [["BOUNCED", "OPENED", "CLICKED", "DELIVERED"], "BOUNCED"],
  [["CLICKED", "COMPLAINED", "BOUNCED", "OPENED"], "COMPLAINED"],
  [["OPENED", "BOUNCED"], "BOUNCED"],
] as const)("after %j in separate calls an email is %s and has every timestamp", async (statuses, status) => {
  const id = await mailAt("SENT");
  for (const one of statuses) expect((await advance(step(id, one, 1)))[0]?.isFirst).toBe(true);
  const { status: last, sentAt: _, ...instants } = await instantsOf(id);
  expect(last).toBe(status);
  expect(Object.keys(instants).toSorted()).toEqual(
    statuses.map((one) => `${one.toLowerCase()}At`).toSorted(),
  );
});

test.each(["QUEUED", "CLAIMED", "FAILED", "SKIPPED"])(
  "records no report for an email that is %s",
  async (status) => {
    const id = await mailAt(status);
    expect((await advance(step(id, "OPENED"), step(id, "CLICKED"))).map(({ isFirst }) => isFirst)).toEqual([
      false,
      false,
    ]);
    expect(await instantsOf(id)).toEqual({ status });
  },
);

test("an open proves that an unconfirmed email was sent", async () => {
  const id = await mailAt("UNCONFIRMED");
  expect(await advance(step(id, "OPENED", 7))).toMatchObject([{ isFirst: true }]);
  expect(await instantsOf(id)).toEqual({ status: "OPENED", sentAt: 7, openedAt: 7 });
});

test.each(["DELIVERED", "OPENED", "CLICKED", "BOUNCED", "COMPLAINED"] as const)(
  "%s proves that an email in doubt was sent and cancels its retry",
  async (status) => {
    for (const waiting of ["QUEUED", "CLAIMED"]) {
      const id = await mailAt(waiting);
      await sql`
        with attempt as (
          insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
          values (${outbox.projectId}, ${id}, 1, 'uncertain', 'no reply', 'smtp'))
        update emails set attempts = 1 where id = ${id}`.execute(outbox.database);
      expect(await advance(step(id, status, 7))).toMatchObject([{ isFirst: true }]);
      expect(await instantsOf(id)).toMatchObject({ status, sentAt: 7 });
    }
  },
);

test.each(["uncertain", "sent"])(
  "a report cancels the retry if a deferral followed an attempt that is %s",
  async (outcome) => {
    const id = await mailAt("QUEUED");
    await sql`
      with attempt as (
        insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
        values (${outbox.projectId}, ${id}, 1, ${outcome}, 'no reply', 'smtp'),
          (${outbox.projectId}, ${id}, 2, 'deferred', '451 later', 'smtp'))
      update emails set attempts = 2 where id = ${id}`.execute(outbox.database);
    expect(await advance(step(id, "DELIVERED", 7))).toMatchObject([{ isFirst: true }]);
    expect(await instantsOf(id)).toMatchObject({ status: "DELIVERED", sentAt: 7 });
  },
);

test("reports one first step when the same steps are recorded concurrently", async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, async () => mailAt("SENT")));
  const batches = Array.from({ length: 8 }, async () =>
    advance(...ids.flatMap((id) => [step(id, "OPENED"), step(id, "CLICKED")])),
  );
  const taken = (await Promise.all(batches)).flat().filter(({ isFirst }) => isFirst);
  expect(taken.map(({ id, status }) => `${id} ${status}`).toSorted()).toEqual(
    ids.flatMap((id) => [`${id} OPENED`, `${id} CLICKED`]).toSorted(),
  );
});

test.each<[Outcome, ReturnedStatus, string]>([
  [TAKEN, "OPENED", "OPENED"],
  [TAKEN, "CLICKED", "CLICKED"],
  [{ kind: "deferred", answer: "451 later" }, "CLICKED", "QUEUED"],
  [{ kind: "rejected", answer: "550 no", meaning: "policy" }, "OPENED", "FAILED"],
])("outcome %j after an early %s report leaves the email %s", async (outcome, status, expected) => {
  const [id = ""] = await outbox.enqueue([{}]);
  const transport = createScriptedTransport();
  transport.play = async (_message, mayLeave) => {
    if (await mayLeave()) await advance(step(id, status));
    return outcome;
  };
  await outbox.start(transport);
  await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
  expect(await instantsOf(id)).toMatchObject({ status: expected, [`${status.toLowerCase()}At`]: 0 });
});
