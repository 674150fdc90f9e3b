// Tests the limit of domains per project, also for concurrent additions.
import { expect, test } from "vitest";
import * as domains from "@postloft/contract/domains.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

test("rejects a domain over the limit before generating a key", async () => {
  const { byKey, id } = await server.createProject();
  await server.call(domains.createDomain, byKey, { body: { domain: "first.example.com" } });
  await server.rows(
    `insert into domains select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'domain', n || '.example.com'))).*
     from domains d, generate_series(3, $2::int) n where d.project_id = $1`,
    id,
    LIMITS.domains.value,
  );
  const replies = await Promise.all(
    ["a", "b"].map((name) =>
      server.call(domains.createDomain, byKey, { body: { domain: `${name}.example.com` } }),
    ),
  );
  expect(replies.map(errorOf).toSorted()).toEqual(["201 undefined", "409 CONFLICT"]);
  const add = () => server.call("POST", "/domains", byKey, { domain: "c.example.com" });
  expect((await add()).body.error.message).toContain(`${LIMITS.domains.value} domains`);
  // Generating a key takes 100 ms or more.
  expect(await leastCpuMs(50, add)).toBeLessThan(50);
});
