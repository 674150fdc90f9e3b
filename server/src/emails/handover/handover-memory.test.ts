// Tests the in-memory record of recent submissions and its limits.
import { expect, test } from "vitest";
import type { HandoverCheck } from "./handover.ts";
import { createHandoverMemory } from "./handover-memory.ts";
import type { Bookkeeper } from "../booking/outcomes.ts";
import type { Ready } from "../rows/prepared.ts";

const mailOf = (id: string) =>
  ({ row: { id, variables: { secret: "42" } }, ownSubject: null }) as unknown as Ready;
const CHECK: HandoverCheck = { ask: async ({ row }) => row.id !== "refused", leave: () => undefined };
const BOOKS: Bookkeeper = {
  record: async () => undefined,
  recordUnready: async () => undefined,
  drained: async () => undefined,
};

test("remembers emails that passed with their reply but not rejected or withdrawn ones", async () => {
  const memory = createHandoverMemory();
  const check = memory.atCheck(CHECK);
  const books = memory.atBooks(BOOKS);
  for (const id of ["sent", "open", "withdrawn", "refused"]) await check.ask(mailOf(id));
  await books.record(mailOf("sent"), { kind: "sent", answer: "250 ok" });
  check.leave(mailOf("sent"), true);
  check.leave(mailOf("withdrawn"), true);
  expect(memory.all().map(({ row, outcome }) => [row.id, outcome?.kind ?? null, row.variables])).toEqual([
    ["sent", "sent", null],
    ["open", null, null],
  ]);
});

test("drops the oldest entries beyond the limit and reports since when it is complete", async () => {
  const memory = createHandoverMemory();
  const check = memory.atCheck(CHECK);
  const before = memory.sinceMs();
  for (let number = 0; number < 20_010; number++) await check.ask(mailOf(`mail ${number}`));
  expect(memory.all()).toHaveLength(20_000);
  expect(memory.all()[0]?.row.id).toBe("mail 10");
  expect(memory.sinceMs()).toBeGreaterThanOrEqual(before);
});
