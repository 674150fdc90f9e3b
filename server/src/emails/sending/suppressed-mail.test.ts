// Tests the pre-send check for suppressed addresses. An address that is listed before the submission commits gets no email.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { createScriptedTransport, takeEverything } from "../../testing/scripted-transport.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";

const outbox = useOutbox();

test.for([undefined, "MARKETING"] as const)(
  "sends nothing to an address listed between claim and submission, list kind %s",
  async (listKind) => {
    await sql`update project_queues set suppression_list = true where project_id = ${outbox.projectId}`.execute(
      outbox.database,
    );
    const transport = createScriptedTransport();
    transport.play = async (message, mayLeave) => {
      if (message.envelope.to[0] === "late@example.com")
        await sql`
          insert into suppressions (project_id, id, email, reason)
          values (${outbox.projectId}, ${newId()}, 'late@example.com', 'COMPLAINT')`.execute(outbox.database);
      return takeEverything(message, mayLeave);
    };
    const kind = listKind === undefined ? {} : { listKind };
    const [late = "", other = ""] = await outbox.enqueue([
      { to: "late@example.com", ...kind },
      { to: "other@example.com", ...kind },
    ]);
    await outbox.start(transport);
    await outbox.until(late, "SKIPPED");
    await outbox.until(other, "SENT");
    expect((await outbox.row(late)).reason).toMatch(/^The address is on the suppression list/);
    expect(transport.handedOver.map(({ envelope }) => envelope.to)).toEqual([["other@example.com"]]);
  },
);

test("sends to a listed address if the project does not use its suppression list", async () => {
  await sql`
    insert into suppressions (project_id, id, email, reason)
    values (${outbox.projectId}, ${newId()}, 'ada@example.com', 'HARD_BOUNCE')`.execute(outbox.database);
  const transport = createScriptedTransport();
  const [id = ""] = await outbox.enqueue([{ to: "ada@example.com" }]);
  await outbox.start(transport);
  await outbox.until(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
});
