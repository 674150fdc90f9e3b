// Monthly caps on the emails of each kind, by calendar month in UTC, and the usage (docs/decisions/0055-caps.md).
import { LRUCache } from "lru-cache";
import { CAP_CATEGORIES, type CapCategory } from "@postloft/contract/limits/billing.ts";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { recordAudit, type Actor } from "../audit/audit-log.ts";
import { now, nowMs } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { findCapsRow, insertCapsRow, lockCapsRow, readAccepted, updateCapsRow } from "./caps-queries.ts";

/** Members are warned once usage reaches this share of a cap. */
const WARNING_PERCENT = 80;
/** How long a reading stays valid, together with the emails accepted here since then. */
const CHECK_EVERY_MS = 5_000;
const MAX_PROJECTS = 10_000;

/** The email kind that each category counts. */
export const KIND_OF: Record<CapCategory, EmailKind> = {
  transactional: "TRANSACTIONAL",
  campaigns: "CAMPAIGN",
  workflows: "WORKFLOW",
};
const NAME_OF: Record<CapCategory, string> = {
  transactional: "transactional emails",
  campaigns: "campaign emails",
  workflows: "workflow emails",
};

type Caps = Record<CapCategory, number | null>;
type Usage = Record<CapCategory, number>;

const NO_CAPS: Caps = { transactional: null, campaigns: null, workflows: null };

async function findCaps(database: Database, projectId: string): Promise<Caps> {
  return (await findCapsRow(database, projectId)) ?? NO_CAPS;
}

/** Returns the calendar month at a time. `end` is the start of the next month. */
export function monthOf(at: Date): { start: Date; end: Date } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
}

/** Returns the emails sent this month and those accepted but not yet sent. */
async function readUsage(database: Database, projectId: string): Promise<Usage> {
  const { start, end } = monthOf(now());
  const accepted = await readAccepted(database, projectId, { from: start, to: end });
  const of = (category: CapCategory) => accepted.get(KIND_OF[category]) ?? 0;
  return { transactional: of("transactional"), campaigns: of("campaigns"), workflows: of("workflows") };
}

export async function readCaps(database: Database, projectId: string) {
  const caps = await findCaps(database, projectId);
  const usage = await readUsage(database, projectId);
  const view = (category: CapCategory) => {
    const limit = caps[category];
    const percentage = limit === null ? null : Math.floor((usage[category] / limit) * 1_000) / 10;
    return {
      limit,
      usage: usage[category],
      percentage,
      isWarning: percentage !== null && percentage >= WARNING_PERCENT,
      isBlocked: limit !== null && usage[category] >= limit,
    };
  };
  return { transactional: view("transactional"), campaigns: view("campaigns"), workflows: view("workflows") };
}

/** Sets the given caps, and removes those that are null. Runs under a lock, so that concurrent changes see each other. */
export async function updateCaps(
  tx: Tx,
  projectId: string,
  input: { [Category in CapCategory]?: number | null | undefined },
  actor: Actor,
): Promise<void> {
  await insertCapsRow(tx, projectId);
  await lockCapsRow(tx, projectId);
  const before = await findCaps(tx, projectId);
  const of = (category: CapCategory) => {
    const cap = input[category];
    return cap === undefined ? before[category] : cap;
  };
  const after = {
    transactional: of("transactional"),
    campaigns: of("campaigns"),
    workflows: of("workflows"),
  };
  await updateCapsRow(tx, projectId, after);
  const changed = CAP_CATEGORIES.filter((category) => before[category] !== after[category]);
  if (changed.length === 0) return;
  const details = Object.fromEntries(
    changed.map((category) => [category, { from: before[category], to: after[category] }]),
  );
  await recordAudit(tx, [{ projectId, actor, action: "billing.limitsChanged", details }]);
}

/** Returns the emails of this month. The costs come from billing.ts. */
export async function readConsumption(database: Database, projectId: string) {
  const { start, end } = monthOf(now());
  const usage = await readUsage(database, projectId);
  const records = CAP_CATEGORIES.map((category) => ({ category, count: usage[category] }));
  return {
    period: { start: start.toISOString(), end: end.toISOString() },
    usage: { total: records.reduce((sum, { count }) => sum + count, 0), records },
  };
}

/** Returns how many more emails the project may accept this month. Null without a cap. */
export async function readRoom(
  database: Database,
  projectId: string,
  category: CapCategory,
): Promise<number | null> {
  const cap = (await findCaps(database, projectId))[category];
  return cap === null ? null : Math.max(0, cap - (await readUsage(database, projectId))[category]);
}

/** Returns the room under a lock, so that concurrent transactions take it one after the other. */
export async function lockRoom(tx: Tx, projectId: string, category: CapCategory): Promise<number | null> {
  await lockCapsRow(tx, projectId);
  return readRoom(tx, projectId, category);
}

/** @throws AppError BILLING_LIMIT_EXCEEDED if `count` more would exceed the cap */
export async function requireRoom(
  database: Database,
  projectId: string,
  category: CapCategory,
  count: number,
): Promise<void> {
  const room = await readRoom(database, projectId, category);
  if (room !== null && count > room) throw overCap(category, count, room);
}

function overCap(category: CapCategory, count: number, room: number): AppError {
  const asked = count === 1 ? "one more" : `${count} more`;
  return new AppError(
    "BILLING_LIMIT_EXCEEDED",
    withValues("The monthly cap on {category} leaves room for {room}, but this would be {asked}.", {
      category: NAME_OF[category],
      room,
      asked,
    }),
  );
}

interface Seen {
  /** The room left since the reading. Null without a cap. */
  look: Promise<{ left: number | null }>;
  atMs: number;
}

/**
 * Returns the same check for many small calls. Reads the usage every few seconds and counts the emails accepted here in between. Several
 * processes together may therefore exceed a cap by the emails of those seconds.
 */
export function createCapCheck(database: Database) {
  const seen = new LRUCache<string, Seen>({ max: MAX_PROJECTS });
  return async (projectId: string, category: CapCategory, count: number): Promise<void> => {
    const key = `${projectId} ${category}`;
    let known = seen.get(key);
    if (known === undefined || nowMs() - known.atMs > CHECK_EVERY_MS) {
      // Concurrent calls wait for the same reading and share its room.
      const look = readRoom(database, projectId, category).then((left) => ({ left }));
      look.catch(() => seen.delete(key));
      known = { look, atMs: nowMs() };
      seen.set(key, known);
    }
    const room = await known.look;
    if (room.left === null) return;
    if (count > room.left) throw overCap(category, count, room.left);
    room.left -= count;
  };
}
