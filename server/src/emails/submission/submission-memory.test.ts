// Tests the in-memory record of recent submissions and its limits.
import { expect, test } from "vitest";
import type { PreSendCheck } from "./pre-send-check.ts";
import { createSubmissionMemory } from "./submission-memory.ts";
import type { ResultRecorder } from "../results/outcomes.ts";
import type { Ready } from "../rows/prepared.ts";

const mailOf = (id: string) =>
  ({ row: { id, variables: { secret: "42" } }, ownSubject: null }) as unknown as Ready;
const CHECK: PreSendCheck = { ask: async ({ row }) => row.id !== "refused", leave: () => undefined };
const RECORDS: ResultRecorder = {
  record: async () => undefined,
  recordUnready: async () => undefined,
  drained: async () => undefined,
};

test("remembers emails that passed with their reply but not rejected or withdrawn ones", async () => {
  const memory = createSubmissionMemory();
  const check = memory.atCheck(CHECK);
  const records = memory.atBooks(RECORDS);
  for (const id of ["sent", "open", "withdrawn", "refused"]) await check.ask(mailOf(id));
  await records.record(mailOf("sent"), { kind: "sent", answer: "250 ok" });
  check.leave(mailOf("sent"), true);
  check.leave(mailOf("withdrawn"), true);
  expect(memory.all().map(({ row, outcome }) => [row.id, outcome?.kind ?? null, row.variables])).toEqual([
    ["sent", "sent", null],
    ["open", null, null],
  ]);
});

test("drops the oldest entries beyond the limit and reports since when it is complete", async () => {
  const memory = createSubmissionMemory();
  const check = memory.atCheck(CHECK);
  const before = memory.sinceMs();
  for (let number = 0; number < 20_010; number++) await check.ask(mailOf(`mail ${number}`));
  expect(memory.all()).toHaveLength(20_000);
  expect(memory.all()[0]?.row.id).toBe("mail 10");
  expect(memory.sinceMs()).toBeGreaterThanOrEqual(before);
});
