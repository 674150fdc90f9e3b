// Checks that any report or visit proves that an email in doubt was sent, so that a waiting retry is canceled.
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { findReturnedMails } from "../emails/returned/returned-emails.ts";
import { findMiscounts } from "../emails/results/sending-hours.ts";
import { createScriptedTransport } from "../testing/scripted-transport.ts";
import { markInDoubt, useOutbox } from "../testing/outbox-fixture.ts";
import { createDeliveries } from "./deliveries.ts";
import type { ReportKind } from "./rules.ts";
import { recordActivities } from "./tracking/record-activity.ts";

const outbox = useOutbox();
const deliveries = createDeliveries({ guard: async () => undefined });

const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

const EVIDENCE: ReadonlyArray<[ReportKind, EmailStatus]> = [
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["delayed", "SENT"],
  ["hard-bounce", "BOUNCED"],
  ["soft-bounce", "SENT"],
  ["refused", "SENT"],
  ["complaint", "COMPLAINED"],
  ["not-spam", "SENT"],
  ["opened", "OPENED"],
  // On a link that does not belong to the email.
  ["clicked", "SENT"],
  ["unsubscribed", "SENT"],
];

/** How long before a report the email was sent. An open at once would be a filter's. */
const minutesBefore = (kind: ReportKind) => (kind === "opened" ? 10 : 0);

/** An email with a single attempt that got no reply, so many minutes ago. */
async function inDoubt(status: string, minutes = 0): Promise<string> {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  await sql`
    with attempt as (
      insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport, created_at)
      values (${outbox.projectId}, ${id}, 1, 'uncertain', 'no reply', 'smtp', now() - make_interval(mins => ${minutes})))
    update emails set status = ${status}, attempts = 1, reason = 'no reply' where id = ${id}`.execute(
    outbox.database,
  );
  return id;
}

const report = (id: string, kind: ReportKind) =>
  transaction(outbox.database, async (tx) => {
    const [mail] = await findReturnedMails(tx, [
      { projectId: outbox.projectId, emailId: id, providerId: null },
    ]);
    if (mail === undefined || mail === null) throw new Error("the mail is there");
    const data = { userAgent: PERSON };
    return deliveries.applyReports(tx, [{ mail, kind, at: new Date(), data }]);
  });
const sentAt = async (id: string) =>
  (
    await outbox.database
      .selectFrom("emails")
      .select(["sentAt"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow()
  ).sentAt;

test.each(EVIDENCE)(
  "an email that is UNCONFIRMED and reported as %s becomes %s and counts once",
  async (kind, status) => {
    const id = await inDoubt("UNCONFIRMED", minutesBefore(kind));
    await report(id, kind);
    await report(id, kind);
    expect(await outbox.row(id)).toMatchObject({ status, reason: null });
    expect(await sentAt(id)).not.toBeNull();
    expect(await findMiscounts(outbox.database)).toEqual([]);
  },
);

test.each(EVIDENCE)(
  "an email that waits for a retry and is reported as %s becomes %s and is not sent again",
  async (kind, status) => {
    const id = await inDoubt("QUEUED", minutesBefore(kind));
    await report(id, kind);
    expect(await outbox.row(id)).toMatchObject({ status, reason: null });
    await sql`update emails set due_at = now()`.execute(outbox.database);
    const transport = createScriptedTransport();
    const [other = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
    await outbox.start(transport);
    await outbox.until(other, "SENT");
    expect(transport.handedOver.map(({ emailId }) => emailId)).toEqual([other]);
  },
);

const hit = (id: string, secondsAfter: number) =>
  transaction(outbox.database, (tx) =>
    recordActivities(tx, [
      {
        projectId: outbox.projectId,
        emailId: id,
        kind: "click",
        number: 1,
        link: "https://shop.example",
        at: new Date(Date.now() + secondsAfter * 1000),
        userAgent: PERSON,
        purpose: "",
        otherLinkMs: Number.POSITIVE_INFINITY,
        isLast: true,
      },
    ]),
  );

test.each(["UNCONFIRMED", "QUEUED"])(
  "an email %s in doubt is settled by a person's click but not by an instant filter click",
  async (status) => {
    const id = await inDoubt(status);
    await hit(id, 1);
    expect(await outbox.row(id)).toMatchObject({ status });
    await hit(id, 300);
    expect(await outbox.row(id)).toMatchObject({ status: "CLICKED" });
    expect(await findMiscounts(outbox.database)).toEqual([]);
  },
);

test("counts every click during the first submission as a filter's", async () => {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  await markInDoubt(outbox.database, newId(), id);
  await hit(id, 300);
  expect(await outbox.row(id)).toMatchObject({ status: "SENDING" });
  expect(await sql`select 1 from link_clicks where email_id = ${id}`.execute(outbox.database)).toMatchObject({
    rows: [],
  });
});

test("ignores reports about an email that waits after a rejection", async () => {
  const id = await inDoubt("QUEUED");
  await sql`update email_attempts set outcome = 'deferred'`.execute(outbox.database);
  await report(id, "delivered");
  expect(await outbox.row(id)).toMatchObject({ status: "QUEUED" });
  expect(await sentAt(id)).toBeNull();
});
