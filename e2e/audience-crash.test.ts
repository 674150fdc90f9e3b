// Kills all processes during an import, a bulk change and the deletion of a field, with a tracked segment active. After the next start all
// jobs finish on their own, and each contact is changed once.
import { afterEach, expect, test } from "vitest";
import { createApiClient, type ApiClient } from "./api-client.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "./program.ts";
import { waitUntil } from "./wait-until.ts";

const OLD = 20_000;
const NEW = 5_000;
/** Contacts with a zero after the hyphen of their address. */
const LEAVING = 10_000;
const PROS = OLD / 2 + NEW;
const SETUP_MS = 30_000;
const RECOVERY_MS = 30_000;
let program: Program | undefined;
let removeFolder: (() => Promise<void>) | undefined;

afterEach(async () => {
  await program?.kill();
  await removeFolder?.();
});

interface Job {
  state: string;
  result: Record<string, unknown> | null;
}

function csv(header: string, rowCount: number, rowOf: (number: number) => string): string {
  const rows = Array.from({ length: rowCount }, (_, number) => rowOf(number));
  return `${header}\n${rows.join("\n")}\n`;
}

const emailOf = (number: number) => `reader-${String(number).padStart(5, "0")}@example.com`;
const planOf = (number: number) => (number % 2 === 0 ? "pro" : "free");

async function startImport(url: string, text: string): Promise<string> {
  const body = new FormData();
  body.set("file", new File([text], "readers.csv", { type: "text/csv" }));
  const headers = { authorization: `Bearer ${SECRET_KEY}` };
  const response = await fetch(new URL("/contacts/import", url), { method: "POST", headers, body });
  expect(response.status).toBe(202);
  return ((await response.json()) as { jobId: string }).jobId;
}

const isOver = async (api: ApiClient, path: string) => (await api.get<Job>(path)).state === "completed";

type Condition = { field: string; operator: string; value?: unknown };

async function count(api: ApiClient, ...conditions: Condition[]): Promise<number> {
  const filters = { operator: "AND", conditions };
  return (await api.post<{ count: number }>("/segments/preview", { filters })).count;
}

/** Matches contacts with the event at least `value` times. */
const happened = (event: string, value = 1): Condition => ({
  field: `event.${event}`,
  operator: "triggered",
  value,
});

test("jobs and segment end within 30 s of the third kill, exact; a deleted field stays gone", async () => {
  const folder = await makeDataFolder();
  removeFolder = folder.remove;
  const settings = { DATA_DIR: folder.path, ...BOOTSTRAP };
  program = await startProgram(settings);
  let api = createApiClient(program.url);
  const first = csv("email,plan,city", OLD, (number) => `${emailOf(number)},${planOf(number)},Berlin`);
  const before = `/contacts/import/${await startImport(program.url, first)}`;
  await waitUntil("the contacts", SETUP_MS, () => isOver(api, before));

  // Every existing contact changes its plan, and new ones get the plan "pro".
  const second = csv("email,plan,round", OLD + NEW, (number) =>
    number < OLD ? `${emailOf(number)},${planOf(number + 1)},2` : `${emailOf(number)},pro,2`,
  );
  const isPro = { field: "data.plan", operator: "equals", value: "pro" };
  const segment = await api.post<{ id: string }>("/segments", {
    name: "Pros",
    filters: { operator: "AND", conditions: [isPro] },
    trackMembership: true,
  });
  const hasCity = { field: "data.city", operator: "exists" };
  const isOfSecond = { field: "data.round", operator: "exists" };
  const hasLeft = { field: "subscribed", operator: "equals", value: false };
  const isMember = { field: `segment.${segment.id}`, operator: "memberOfSegment" };
  const members = async () => (await api.get<{ memberCount: number }>(`/segments/${segment.id}`)).memberCount;
  async function killWhen(what: string, hasBegun: () => Promise<boolean>): Promise<void> {
    await waitUntil(`the first step of the ${what}`, RECOVERY_MS, hasBegun);
    await program?.kill();
    program = await startProgram(settings);
    api = createApiClient(program.url);
  }

  const imported = `/contacts/import/${await startImport(program.url, second)}`;
  await killWhen("import", async () => (await count(api, isOfSecond)) > 0);
  const leaving = { mode: "query", filter: { search: "reader-0" } };
  const { jobId } = await api.post<{ jobId: string }>("/contacts/bulk-unsubscribe", leaving);
  const changed = `/contacts/bulk/${jobId}`;
  await killWhen("bulk change", async () => (await count(api, hasLeft)) > 0);
  expect((await api.call("DELETE", "/contacts/fields/data.city")).status).toBe(200);
  // The field disappears for readers immediately, while the job is still running.
  await killWhen("field deletion", async () => (await count(api, hasCity)) === 0);
  expect(await count(api, hasCity)).toBe(0);

  const ends = {
    import: () => isOver(api, imported),
    "bulk change": () => isOver(api, changed),
    segment: async () => (await members()) === PROS,
  };
  for (const [what, hasEnded] of Object.entries(ends))
    expect([what, await hasEnded()]).toEqual([what, false]);
  const startedMs = performance.now();
  for (const [what, hasEnded] of Object.entries(ends))
    await waitUntil(`the end of the ${what}`, RECOVERY_MS - (performance.now() - startedMs), hasEnded);
  expect((await api.get<Job>(imported)).result).toMatchObject({
    totalRows: OLD + NEW,
    createdCount: NEW,
    updatedCount: OLD,
    failureCount: 0,
  });
  expect((await api.get<Job>(changed)).result).toMatchObject({
    totalRequested: LEAVING,
    successCount: LEAVING,
    unchangedCount: 0,
    failureCount: 0,
  });
  expect(await count(api, isPro)).toBe(PROS);
  expect(await count(api, isOfSecond)).toBe(OLD + NEW);
  expect(await count(api, hasLeft)).toBe(LEAVING);
  expect(await count(api, happened("contact.unsubscribed"))).toBe(LEAVING);
  const twice = ["contact.unsubscribed", "segment.pros.entry", "segment.pros.exit"].map((event) =>
    count(api, happened(event, 2)),
  );
  expect(await Promise.all(twice), "contacts with one event too many").toEqual([0, 0, 0]);
  // Each contact has the matching entry or exit event.
  expect(await count(api, isMember, happened("segment.pros.entry"))).toBe(PROS);
  expect(await count(api, isMember, happened("segment.pros.exit"))).toBe(0);
  const [came, went] = [happened("segment.pros.entry"), happened("segment.pros.exit")];
  expect(await count(api, came)).toBe(PROS + (await count(api, came, went)));
}, 300_000);
