// The suppression list of a project, with addresses that get no email. The list is always kept but applied only if the project enables it
// (docs/decisions/0045-suppression-list.md).
import type * as contract from "@postloft/contract/suppressions.ts";
import { parseAddress } from "@postloft/contract/address.ts";
import { SUPPRESSION_REASONS, type SuppressionReason } from "@postloft/contract/suppressions.ts";
import type { z } from "zod";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import { usesSuppressionList } from "../emails/outbox/queues.ts";
import { writeRow } from "../contacts/cell-text.ts";
import { findContactByEmail } from "../contacts/contacts.ts";
import {
  countSuppressionRows,
  deleteSuppressionRow,
  findSuppressionRows,
  listSuppressionRows,
  listSuppressionsAfter,
  upsertSuppressions,
  type SuppressionFilter,
  type SuppressionRow,
} from "./queries.ts";
import { explainAddress } from "./rules.ts";

/** The name of the list in its cursors. */
export const SUPPRESSIONS = "suppressions";

export type Suppression = z.output<typeof contract.suppression>;

function present(row: SuppressionRow): Suppression {
  return {
    id: row.id,
    email: row.email,
    reason: row.reason,
    emailId: row.emailId,
    actor: row.actor,
    createdAt: row.createdAt.toISOString(),
  };
}

/** An address to suppress, with the reason. */
export interface ToSuppress {
  projectId: string;
  /** Canonical. */
  email: string;
  reason: SuppressionReason;
  /** The email that bounced or got a complaint. Null for manual entries and imports. */
  emailId: string | null;
  /** The id of a user, or `key`. Null for mail servers. */
  actor: string | null;
}

/**
 * Adds addresses in the transaction of the bounce, complaint or request. A stronger reason replaces a weaker one. Returns the number of new
 * entries.
 */
export async function addSuppressions(tx: Tx, input: readonly ToSuppress[]): Promise<number> {
  if (input.length === 0) return 0;
  const strength = ({ reason }: ToSuppress) => SUPPRESSION_REASONS.indexOf(reason);
  const byAddress = new Map<string, ToSuppress>();
  for (const one of input) {
    const key = `${one.projectId} ${one.email}`;
    const other = byAddress.get(key);
    if (other === undefined || strength(one) < strength(other)) byAddress.set(key, one);
  }
  const rows = [...byAddress.values()].map((one) => ({ ...one, id: newId() }));
  return (await upsertSuppressions(tx, rows)).length;
}

/** Returns a page, newest first. `total` is counted on the first page only. */
export async function listSuppressions(
  database: Database,
  projectId: string,
  filter: SuppressionFilter,
  request: PageRequest,
): Promise<Page<Suppression> & { total: number }> {
  const [rows, total] = await Promise.all([
    listSuppressionRows(database, projectId, filter, request),
    request.before === null ? countSuppressionRows(database, projectId, filter) : 0,
  ]);
  return { ...toPage(SUPPRESSIONS, request, rows, present), total };
}

const ROWS_A_BATCH = 1_000;

/** Yields the list as lines of CSV, oldest first, many at a time. */
export async function* writeSuppressions(
  database: Database,
  projectId: string,
  filter: SuppressionFilter,
): AsyncGenerator<string> {
  yield writeRow(["email", "reason", "emailId", "actor", "createdAt"]);
  for (let after: string | null = null; ;) {
    const rows = await listSuppressionsAfter(database, projectId, filter, { after, limit: ROWS_A_BATCH });
    const last = rows.at(-1);
    if (last === undefined) return;
    const lines = rows
      .map(present)
      .map((one) => writeRow([one.email, one.reason, one.emailId, one.actor, one.createdAt]));
    yield lines.join("");
    if (rows.length < ROWS_A_BATCH) return;
    after = last.id;
  }
}

/**
 * Removes an address from the list.
 * @throws AppError SUPPRESSION_NOT_FOUND, also for an invalid address.
 */
export async function removeSuppression(tx: Tx, projectId: string, address: string): Promise<void> {
  const parsed = parseAddress(address);
  if (!parsed.ok || !(await deleteSuppressionRow(tx, projectId, parsed.address)))
    throw new AppError("SUPPRESSION_NOT_FOUND");
}

/**
 * Returns the kinds of email that an address gets, and why.
 * @throws AppError SUPPRESSION_NOT_FOUND for an invalid address.
 */
export async function explainSuppression(database: Database, projectId: string, address: string) {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new AppError("SUPPRESSION_NOT_FOUND", { message: parsed.reason });
  const email = parsed.address;
  const [[row], suppressionList, contact] = await Promise.all([
    findSuppressionRows(database, [{ projectId, email }]),
    usesSuppressionList(database, projectId),
    findContactByEmail(database, projectId, email),
  ]);
  const statusOfEmail = {
    email,
    suppression: row === undefined ? null : present(row),
    suppressionList,
    contact: contact === undefined ? null : { id: contact.id, subscribed: contact.subscribed },
  };
  return { ...statusOfEmail, ...explainAddress(statusOfEmail) };
}

/** Returns the reasons of listed addresses. Keys consist of project and address, separated by a space. */
export async function findSuppressed(
  database: Database,
  addresses: ReadonlyArray<{ projectId: string; email: string }>,
): Promise<Map<string, SuppressionReason>> {
  if (addresses.length === 0) return new Map();
  const rows = await findSuppressionRows(database, addresses);
  return new Map(rows.map((row) => [`${row.projectId} ${row.email}`, row.reason]));
}
