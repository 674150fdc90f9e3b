// Mails that were handed over without an answer: tried once more or left to a person, as their project wants it.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import { newId } from "../../platform/ids.ts";
import { letLeaseRunOut, OUTBOX_WAIT, putInHandover, useOutbox } from "../../testing/outbox-fixture.ts";
import {
  createScriptedTransport,
  refuseWith,
  type Play,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";

const outbox = useOutbox();
let transport: ScriptedTransport;
beforeEach(() => {
  transport = createScriptedTransport();
});

const noAnswer: Play = async (_message, mayLeave) =>
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

test("where the project wants a person to look, transactional mail in doubt leaves once and waits", async () => {
  await waitForAPerson();
  transport.play = noAnswer;
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  await outbox.start(transport);
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(1);
});

test("the same after the death of its sender", async () => {
  await waitForAPerson();
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  const dead = newId();
  await putInHandover(outbox.database, dead, id);
  await letLeaseRunOut(outbox.database, dead);
  await outbox.start(transport);
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(0);
});

test("a refusal for now is no doubt: after it there is one further try all the same, and after that none", async () => {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  transport.play = refuseWith({ kind: "deferred", answer: "451 later" });
  const sender = await outbox.start(transport);
  await untilAttempts(id, 1);
  transport.play = noAnswer;
  for (const attempts of [2, 3]) {
    await makeDue();
    sender.wake();
    if (attempts === 2) await untilAttempts(id, 2);
  }
  await outbox.until(id, "UNCONFIRMED");
  expect(transport.handedOver).toHaveLength(2);
});
