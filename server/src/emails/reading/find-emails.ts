// Finds the emails of a project by any filter, in full pages or in partial pages that end after a short time.
import { formsOfAddressPart } from "@postloft/contract/address-part.ts";
import { parseMailbox } from "@postloft/contract/address.ts";
import { isOutOfTime, type Database } from "../../platform/database/database.ts";
import { invalidField } from "../../platform/app-error.ts";
import { firstIdAt, idTimeMs, isId } from "../../platform/ids.ts";
import {
  findIdsByProvider,
  findIdsBySubmitted,
  indexesOf,
  listEmailRows,
  listEmailRowsNearby,
  listIndexedIds,
  type EmailFilter,
  type ListedEmailRow,
  type Place,
  type SoughtRecipient,
} from "./search-queries.ts";

export interface Found {
  /** One more than the page, if there are more matches. */
  rows: ListedEmailRow[];
  /** The id of the last checked email if time ran out, otherwise null. */
  end: string | null;
}

export interface FindRequest {
  limit: number;
  before: string | null;
  /** Whether the page may end early. */
  isShort: boolean;
}

/** Reading and sorting this number of emails takes a few hundredths of a second. */
const FEW_IDS = 1_000;
/** Contains a page of most searches, and takes about two milliseconds. */
const FIRST_LOOK = 500;
/** Takes about ten milliseconds. */
const LOOK = 5_000;
/** A partial page ends after this time, plus the statement that is still running. */
const PARTIAL_PAGE_MS = 100;
/** An id may be older or newer than `created_at` by the time of a transaction. The longest one fixes the recipients of a campaign. */
const LEEWAY_MS = 60 * 60_000;

/** Reads a recipient in any spelling. A text that is no whole address is the beginning of one. */
export function readRecipient(text: string): SoughtRecipient {
  const parsed = parseMailbox(text);
  if (parsed.ok) return { address: parsed.address };
  const [asWritten = "", asDomain = asWritten] = formsOfAddressPart(text);
  // Only the part after the @ is stored as A-labels.
  return { beginning: text.includes("@") ? asDomain : asWritten };
}

/** Returns the ids of the emails with this Message-ID, with or without angle brackets. It may be ours, or that of a program or sending service. */
export async function findIdsOfMessage(
  database: Database,
  projectId: string,
  messageId: string,
): Promise<string[]> {
  const whole = messageId.replace(/^</, "").replace(/>$/, "");
  const [local = ""] = whole.split("@");
  const ids = [
    ...(await findIdsByProvider(database, projectId, [whole, local])),
    ...(await findIdsBySubmitted(database, projectId, whole)),
  ];
  return isId(local) ? [local.toLowerCase(), ...ids] : ids;
}

/**
 * Returns a page of matches, newest first, with one row more to detect a next page.
 * @throws AppError VALIDATION_ERROR if a full page exceeds the statement timeout
 */
export async function findEmails(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  { limit, before, isShort }: FindRequest,
): Promise<Found> {
  const place = within(spanOf(filter), { before, from: null, limit: limit + 1 });
  if (!isShort)
    return { rows: await inTime(filter, listEmailRows(database, projectId, filter, place)), end: null };
  const among = (ids: readonly string[]) => listEmailRows(database, projectId, { ...filter, ids }, place);
  if (filter.ids !== undefined) return { rows: await among(filter.ids), end: null };
  let narrowed = place;
  for (const indexes of indexesOf(filter)) {
    const ids: string[] = [];
    for (const index of indexes)
      ids.push(...(await listIndexedIds(database, projectId, filter, index, FEW_IDS + 1)));
    if (ids.length <= FEW_IDS) return { rows: await among(ids), end: null };
    if (indexes.includes("campaign")) narrowed = within(around(ids), narrowed);
  }
  return scan(database, projectId, filter, narrowed);
}

/** Checks the next emails until a page is full, the list ends or time runs out. */
async function scan(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  place: Place,
): Promise<Found> {
  const endMs = performance.now() + PARTIAL_PAGE_MS;
  const rows: ListedEmailRow[] = [];
  let { before } = place;
  for (let look = FIRST_LOOK; ; look = LOOK) {
    const next = { ...place, before, limit: place.limit - rows.length, look };
    const near = await listEmailRowsNearby(database, projectId, filter, next);
    rows.push(...near.rows);
    if (rows.length >= place.limit) return { rows, end: null };
    if (near.end === null || performance.now() >= endMs) return { rows, end: near.end };
    before = near.end;
  }
}

type Span = Pick<Place, "before" | "from">;

/** Returns the ids that emails of these times can have. */
function spanOf({ since, until }: EmailFilter): Span {
  return {
    from: since === undefined ? null : idAt(since.getTime() - LEEWAY_MS),
    before: until === undefined ? null : idAt(until.getTime() + LEEWAY_MS),
  };
}

/** Returns the ids that the emails of a campaign can have, from any of them. All get their ids in one statement. */
function around(ids: readonly string[]): Span {
  const times = ids.map(idTimeMs);
  return { from: idAt(Math.min(...times) - LEEWAY_MS), before: idAt(Math.max(...times) + LEEWAY_MS) };
}

const idAt = (ms: number) => firstIdAt(Math.max(0, ms));

function within(span: Span, { before, from, limit }: Place): Place {
  const ends = [span.before, before].filter((id) => id !== null).toSorted();
  const starts = [span.from, from].filter((id) => id !== null).toSorted();
  return { before: ends[0] ?? null, from: starts.at(-1) ?? null, limit };
}

/** @throws AppError VALIDATION_ERROR for the first parameter if a search of all emails exceeds the statement timeout */
export async function inTime<Result>(filter: object, asking: Promise<Result>): Promise<Result> {
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    const [first = "withTotal"] = Object.entries(filter).flatMap(([name, value]) =>
      value === undefined ? [] : [name],
    );
    throw invalidField(first === "ids" ? "messageId" : first, "custom", TOO_SLOW);
  });
}
const TOO_SLOW =
  "Searching all emails takes too long. Add `since`, or send `shortPages=true` and `withTotal=false`.";
