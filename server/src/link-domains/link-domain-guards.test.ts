// Calls statements on link domains for the second time, and for domains that were replaced.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { useSampleDatabase } from "../testing/sample-database.ts";
import type { Tx } from "../platform/database/database.ts";
import { id } from "../testing/sample-rows.ts";
import { NO_ID } from "../platform/ids.ts";
import { endLinkDomain, isServedDomain, listServedLinkDomains, upsertLinkDomain } from "./queries.ts";

const { undone } = useSampleDatabase();

/** The domain of the sample rows. */
const DOMAIN = "go.shop.example";
const MAX_FORMER = 10;

async function stateOf(tx: Tx): Promise<unknown> {
  const { rows } = await sql`
    select is_current, status, failed_checks, problem, next_check_at <= now() as is_due, status_changed_at = now() as is_new
    from link_domains where domain = ${DOMAIN}`.execute(tx);
  return rows[0];
}
const age = (tx: Tx) =>
  sql`
  update link_domains set status = 'ACTIVE', was_active = true, failed_checks = 2, failed_at = now(), problem = 'UNREACHABLE',
    next_check_at = now() + interval '1 day', status_changed_at = now() - interval '1 day'`.execute(tx);

test("a former domain that is set again is checked immediately, and starts without failures", async () => {
  const result = await undone(async (tx) => {
    await age(tx);
    await endLinkDomain(tx, id.project, null);
    const ended = await stateOf(tx);
    await sql`update link_domains set status_changed_at = now() - interval '1 day'`.execute(tx);
    await upsertLinkDomain(tx, id.project, DOMAIN);
    return [ended, await stateOf(tx)];
  });
  const reset = { status: "PENDING", failedChecks: 0, problem: null };
  expect(result).toEqual([
    { ...reset, isCurrent: false, isDue: false, isNew: true },
    { ...reset, isCurrent: true, isDue: true, isNew: true },
  ]);
});

test("the current domain keeps its state when it is set again", async () => {
  const [first, second] = await undone(async (tx) => {
    await age(tx);
    const before = await stateOf(tx);
    await endLinkDomain(tx, id.project, DOMAIN);
    await upsertLinkDomain(tx, id.project, DOMAIN);
    return [before, await stateOf(tx)];
  });
  expect(second).toEqual(first);
  expect(second).toMatchObject({ isCurrent: true, status: "ACTIVE", failedChecks: 2, isDue: false });
});

const served = (tx: Tx) => listServedLinkDomains(tx, { after: { projectId: NO_ID, domain: "" }, limit: 50 });

test("a project keeps the domains that were active last, and serves them", async () => {
  const result = await undone(async (tx) => {
    await sql`
      insert into link_domains (project_id, domain, is_current, was_active, status_changed_at)
      select ${id.project}, 'd' || n || '.example', false, true, now() - make_interval(days => n)
      from generate_series(1, ${MAX_FORMER + 1}) n`.execute(tx);
    await endLinkDomain(tx, id.project, null);
    const names = (await served(tx)).map(({ domain }) => domain);
    const isServed = await isServedDomain(tx, "d1.example");
    return [names.length, names.includes("d1.example"), isServed, await isServedDomain(tx, DOMAIN)];
  });
  expect(result).toEqual([MAX_FORMER, true, true, false]);
});
