// Calls statements on executions, pauses, goals and dates for the second time, and in states that must not change.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../platform/database/database.ts";
import { useSampleDatabase } from "../../testing/sample-database.ts";
import { newId } from "../../platform/ids.ts";
import { id } from "../../testing/sample-rows.ts";
import { deleteDates, deleteFormerDates, upsertDates } from "../dates/date-queries.ts";
import { countEntriesToday } from "./entry-queries.ts";
import { updateResponses, updateWaitingExecutionsDue } from "./execution-queries.ts";
import { updateGoalsReached } from "./goal-queries.ts";
import { cancelExecutionRows } from "./list-queries.ts";
import { countMovable, listReentered } from "./move-queries.ts";
import {
  releaseStoppedExecutions,
  stopExecutions,
  updateFailedInARow,
  updateToPaused,
  updateToPausedUnlessLocked,
  updateToResumed,
} from "./pause-queries.ts";

const { undone } = useSampleDatabase();

const { project, workflow } = id;
/** The column of a response. */
const RESPONSE = "answer";
const REASON = { stepId: id.step, stepName: "call", contacts: 1, error: "500" };

async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const set = (tx: Tx, changes: RawBuilder<unknown>, executionId = id.due) =>
  sql`update workflow_executions set ${changes} where id = ${executionId}`.execute(tx);
/** The due times of an execution as text, in hours from now. */
const timesOf = (tx: Tx, executionId = id.due) =>
  read(
    tx,
    sql`select case when due_at = 'infinity' then 'held' else round(extract(epoch from due_at - now()) / 3600)::text end as due,
      round(extract(epoch from paused_due_at - now()) / 3600)::integer as paused
      from workflow_executions where id = ${executionId}`,
  );
const inHours = (hours: number) => sql`now() + make_interval(hours => ${hours}::integer)`;

test("pausing again keeps the time and the reason of the first pause, and resuming clears both", async () => {
  const pause = sql`select paused_at = now() as is_new, paused_reason is not null as has_reason from workflows`;
  const result = await undone(async (tx) => {
    const done = [await updateToPausedUnlessLocked(tx, project, workflow, REASON)];
    await sql`update workflows set paused_at = now() - interval '1 hour'`.execute(tx);
    done.push(await updateToPaused(tx, project, workflow));
    done.push(await updateToPausedUnlessLocked(tx, project, workflow, REASON));
    const paused = await read(tx, pause);
    done.push(await updateToResumed(tx, project, workflow), await updateToResumed(tx, project, workflow));
    return [done, paused, await read(tx, pause)];
  });
  expect(result).toEqual([
    [true, false, false, true, false],
    { isNew: false, hasReason: true },
    { isNew: null, hasReason: false },
  ]);
});

test("a stopped execution keeps its time when it is stopped again, and a failed call is made again", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`due_at = ${inHours(1)}, answer = '{"is": "failed"}'`);
    await stopExecutions(tx, project, [id.due]);
    const once = await timesOf(tx);
    await set(tx, sql`due_at = ${inHours(5)}`);
    await stopExecutions(tx, project, [id.due]);
    return [
      once,
      await timesOf(tx),
      await read(tx, sql`select answer as response from workflow_executions where id = ${id.due}`),
    ];
  });
  expect(result).toEqual([{ due: null, paused: 1 }, { due: null, paused: 1 }, { response: { is: "again" } }]);
});

test.each([
  ["is due at its time", sql`due_at = null`, { due: "1", paused: null }],
  ["is due earlier after an event", sql`due_at = ${inHours(0)}`, { due: "0", paused: null }],
  ["stays held after a rollback", sql`due_at = 'infinity'`, { due: "held", paused: null }],
  ["is not due if it ended", sql`due_at = null, status = 'EXITED'`, { due: null, paused: null }],
])("a released execution %s", async (_, changes, is) => {
  const result = await undone(async (tx) => {
    await set(tx, sql`paused_due_at = ${inHours(1)}, ${changes}`);
    const counts = [await releaseStoppedExecutions(tx, project, workflow, 5)];
    counts.push(await releaseStoppedExecutions(tx, project, workflow, 5));
    return [counts, await timesOf(tx)];
  });
  expect(result).toEqual([[1, 0], is]);
});

test("failures in a row count each contact once, and a success or a resume forgets them", async () => {
  const failures = sql`select cardinality(failed_in_a_row) as count from workflow_step_counts where step_id = ${id.step}`;
  const step = { workflowId: workflow, stepId: id.step };
  const result = await undone(async (tx) => {
    await sql`
      insert into workflow_step_counts (project_id, workflow_id, step_id) values (${project}, ${workflow}, ${id.step})`.execute(
      tx,
    );
    const fail = (...contactIds: string[]) =>
      updateFailedInARow(tx, project, {
        failed: contactIds.map((contactId) => ({ ...step, contactId })),
        succeeded: [],
      });
    const counts = [];
    await fail(id.ada, id.bob);
    await fail(id.ada);
    counts.push(await read(tx, failures));
    await updateFailedInARow(tx, project, { failed: [], succeeded: [step] });
    counts.push(await read(tx, failures));
    await fail(id.ada);
    await updateToResumed(tx, project, workflow);
    counts.push(await read(tx, failures));
    return counts;
  });
  expect(result).toEqual([{ count: 2 }, { count: 0 }, { count: 0 }]);
});

test("a goal keeps the first time that it was reached", async () => {
  const result = await undone(async (tx) => {
    for (const day of ["2026-01-01", "2026-01-02"])
      await updateGoalsReached(tx, project, [{ id: id.due, at: new Date(`${day}T00:00:00Z`) }]);
    return read(
      tx,
      sql`select goal_reached_at::date::text as day from workflow_executions where id = ${id.due}`,
    );
  });
  expect(result).toEqual({ day: "2026-01-01" });
});

test("only active executions on other versions move, and neither ending nor deleted ones", async () => {
  const which = {
    workflowId: workflow,
    version: 2,
    selection: { stepIds: null, versions: null, executionIds: null },
  };
  const result = await undone(async (tx) => {
    const counts = [];
    const count = async () =>
      counts.push((await countMovable(tx, project, which)).reduce((sum, one) => sum + one.count, 0));
    await count();
    await set(tx, sql`exit_reason = 'dropped'`);
    await count();
    await set(tx, sql`due_at = 'infinity'`);
    await count();
    await set(tx, sql`step_id = null`, id.waiting);
    await count();
    await set(tx, sql`contact_id = null`, id.cancelled);
    await count();
    counts.push((await countMovable(tx, project, { ...which, version: 1 })).length);
    return counts;
  });
  expect(result).toEqual([3, 2, 3, 2, 1, 0]);
});

test("a contact has entered again only while another execution of the same workflow is active", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`contact_id = ${id.bob}, entry = 2`, id.failed);
    const active = await listReentered(tx, project, [id.failed]);
    const own = await listReentered(tx, project, [id.due]);
    await set(tx, sql`status = 'EXITED', due_at = null`);
    return [active, own, await listReentered(tx, project, [id.failed])];
  });
  expect(result).toEqual([[id.failed], [], []]);
});

test("an event makes executions of its contact due that wait for this event", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`waits_for = 'paid'`, id.waiting);
    const times = [];
    for (const arrived of [
      { contactId: id.ada, eventName: "opened" },
      { contactId: id.bob, eventName: "paid" },
      { contactId: id.ada, eventName: "paid" },
    ]) {
      await updateWaitingExecutionsDue(tx, project, [arrived]);
      times.push(await timesOf(tx, id.waiting));
    }
    return times;
  });
  const not = { due: null, paused: null };
  expect(result).toEqual([not, not, { due: "0", paused: null }]);
});

test("a response counts only for the call that a waiting execution made last", async () => {
  const stored = sql`select answer as response from workflow_executions where id = ${id.waiting}`;
  const result = await undone(async (tx) => {
    const [former, last] = [newId(), newId()];
    const trace = [former, last].map((callId) => ({ out: { callId } }));
    await set(tx, sql`trace = ${JSON.stringify(trace)}::jsonb`, id.waiting);
    const respond = (callId: string) =>
      updateResponses(tx, [
        { projectId: project, executionId: id.waiting, callId, [RESPONSE]: '{"is": "done"}' },
      ]);
    await respond(former);
    const early = await read(tx, stored);
    await set(tx, sql`status = 'CANCELLED'`, id.waiting);
    await respond(last);
    const cancelled = await read(tx, stored);
    await set(tx, sql`status = 'WAITING'`, id.waiting);
    await respond(last);
    return [early, cancelled, await read(tx, stored)];
  });
  expect(result).toEqual([{ response: null }, { response: null }, { response: { is: "done" } }]);
});

test("cancelling all leaves executions that started later, and ended ones", async () => {
  const result = await undone(async (tx) => {
    await sql`update workflows set cancelled_until = now()`.execute(tx);
    await set(tx, sql`started_at = now() + interval '1 second'`);
    const which = { projectId: project, workflowId: workflow, id: null, limit: 10, isMarked: true };
    const counts = [await cancelExecutionRows(tx, which, "r"), await cancelExecutionRows(tx, which, "r")];
    const { rows } = await sql`
      select status, count(*)::integer as count from workflow_executions group by 1 order by 1`.execute(tx);
    return [counts.map(({ count }) => count), rows];
  });
  expect(result).toEqual([
    [2, 0],
    [
      { status: "CANCELLED", count: 2 },
      { status: "FAILED", count: 1 },
      { status: "RUNNING", count: 1 },
    ],
  ]);
});

test("counts the entries of a contact within a day", async () => {
  const entry = { workflowId: workflow, contactId: id.bob };
  const result = await undone(async (tx) => {
    const counts = [];
    for (const minutes of [24 * 60 - 1, 24 * 60 + 1]) {
      await set(tx, sql`started_at = now() - make_interval(mins => ${minutes}::integer)`);
      counts.push([...(await countEntriesToday(tx, project, [entry])).values()]);
    }
    return counts;
  });
  expect(result).toEqual([[1], []]);
});

const since = (day: number) => new Date(Date.UTC(2027, 0, day));

test("the date of an earlier trigger neither replaces nor deletes that of a later one", async () => {
  const key = { workflowId: workflow, contactId: id.ada };
  const dates = sql`select due_at = ${since(1).toISOString()} as is_early, since = ${since(5).toISOString()} as is_late from workflow_dates`;
  const result = await undone(async (tx) => {
    const store = (day: number, due: number) =>
      upsertDates(tx, project, [
        { ...key, occursAt: since(1), dueAt: since(due), since: since(day), fromPublicKey: false },
      ]);
    await store(5, 9);
    await store(4, 1);
    const kept = await read(tx, dates);
    await store(5, 1);
    const renewed = await read(tx, dates);
    await deleteDates(tx, project, [{ ...key, since: since(4) }]);
    const stays = await read(tx, dates);
    await deleteDates(tx, project, [{ ...key, since: since(5) }]);
    return [kept, renewed, stays, await read(tx, dates)];
  });
  expect(result).toEqual([
    { isEarly: false, isLate: true },
    { isEarly: true, isLate: true },
    { isEarly: true, isLate: true },
    undefined,
  ]);
});

test("deletes the dates of former triggers only, also those of a disabled workflow", async () => {
  const result = await undone(async (tx) => {
    const end = () => deleteFormerDates(tx, { projectId: project, workflowId: workflow, limit: 5 });
    await sql`update workflow_dates d set since = w.dates_since from workflows w`.execute(tx);
    const counts = [await end()];
    await sql`update workflows set dates_since = null`.execute(tx);
    counts.push(await end());
    return counts;
  });
  expect(result).toEqual([0, 1]);
});
