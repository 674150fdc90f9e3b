// Segments of one contact: static and dynamic, evaluated live, page by page.
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { expect, test } from "vitest";
import { useTestServer } from "../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../testing/typed-call.ts";
import { newId } from "../platform/ids.ts";

const server = useTestServer();

type Segments = ResponseOf<typeof segments.listContactSegments>;

const plan = (value: string) => ({
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value }] }],
});

const told = ({ data }: Segments) => data.map(({ name, isMember }) => [name, isMember]);

test("a contact is in static and dynamic segments as of now, and in none of another project", async () => {
  const { byKey } = await server.createProject();
  const create = (body: BodyOf<typeof segments.createSegment>) =>
    server.call(segments.createSegment, byKey, { body });
  const contact = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "ada@example.com",
      data: { plan: "pro" },
    },
  });
  await create({ name: "Pro", condition: plan("pro") });
  await create({ name: "Free", condition: plan("free"), trackMembership: true });
  const byHand = await create({ name: "Testers", type: "STATIC" });
  await server.call(segments.addSegmentMembers, byKey, {
    params: { id: byHand.body.id },
    body: { emails: ["ada@example.com"] },
  });
  await create({
    name: "Testers who pay",
    condition: {
      logic: "AND",
      groups: [
        {
          filters: [
            { field: `segment.${byHand.body.id}`, operator: "memberOfSegment" },
            { field: "data.plan", operator: "equals", value: "pro" },
          ],
        },
      ],
    },
  });

  const path = `/contacts/${contact.body.id}/segments`;
  const read = async (query = "") => (await server.call<Segments>("GET", `${path}${query}`, byKey)).body;
  expect(told(await read())).toEqual([
    ["Testers who pay", true],
    ["Testers", true],
    ["Free", false],
    ["Pro", true],
  ]);
  await server.call(contacts.updateContact, byKey, {
    params: { id: contact.body.id },
    body: { data: { plan: "free" } },
  });
  const first = await read("?limit=3");
  const rest = await read(`?limit=3&cursor=${first.cursor}`);
  expect([told(first), told(rest), rest.hasMore]).toEqual([
    [
      ["Testers who pay", false],
      ["Testers", true],
      ["Free", true],
    ],
    [["Pro", false]],
    false,
  ]);

  const elsewhere = await server.createProject();
  for (const [caller, id] of [
    [elsewhere.byKey, contact.body.id],
    [byKey, newId()],
  ] as const) {
    const refused = await server.call("GET", `/contacts/${id}/segments`, caller);
    expect([refused.status, refused.body.error.code]).toEqual([404, "CONTACT_NOT_FOUND"]);
  }
});

const many = (count: number, others: object[] = []) => ({
  operator: "OR",
  conditions: [
    ...others,
    ...Array.from({ length: count }, (_, at) => ({ field: "data.plan", operator: "equals", value: `${at}` })),
  ],
});

test("returns null for a segment that became too large, and an answer for all others", async () => {
  const { byKey } = await server.createProject();
  const create = async (name: string, filters: Record<string, unknown>) =>
    (await server.call(segments.createSegment, byKey, { body: { name, filters } })).body.id;
  const largest = LIMITS.filterConditions.value;
  const names = Array.from({ length: LIMITS.filterExpanded.value / largest + 1 }, (_, at) => `inner ${at}`);
  const inner: string[] = [];
  for (const name of names) inner.push(await create(name, many(1)));
  await create(
    "over all",
    many(
      1,
      inner.map((id) => ({ field: `segment.${id}`, operator: "memberOfSegment" })),
    ),
  );
  // Such a change is rejected now, but older installations may contain one.
  await server.rows(
    "update segments set filters = $1 where id = any($2)",
    JSON.stringify(many(largest)),
    inner,
  );
  const data = { plan: `${largest - 1}` };
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "ada@example.com",
      data,
    },
  });
  const { body } = await server.call(segments.listContactSegments, byKey, { params: { id: contact.id } });
  expect(told(body)).toEqual([["over all", null], ...names.toReversed().map((name) => [name, true])]);
});
