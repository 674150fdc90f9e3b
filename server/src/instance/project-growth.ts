// Computes the growth of the database and of its disk from two measurements.
import type { StorageDay } from "./storage-queries.ts";

const DAY_MS = 86_400_000;
/** One busy day must not look like a trend. */
const LEAST_DAYS = 3;
/** A later date would only be a guess. */
const LONGEST_DAYS = 3_650;

export interface Growth {
  since: string;
  days: number;
  databaseBytesPerDay: number;
  /** Null if the disk of the database is unknown or was replaced. */
  diskBytesPerDay: number | null;
  /** Null if the disk is unknown, doesn't fill up, or lasts for ten years. */
  diskFullAt: string | null;
}

export interface Projection {
  growth: Growth;
  /** By table, if both measurements have it. */
  tableBytesPerDay: Readonly<Record<string, number>>;
}

/**
 * Returns the growth per day between two measurements, or null if they are less than three days apart.
 */
export function projectGrowth(
  first: StorageDay,
  last: StorageDay,
  { freeBytes, at }: { freeBytes: number | null; at: Date },
): Projection | null {
  const days = (last.measuredAt.getTime() - first.measuredAt.getTime()) / DAY_MS;
  if (days < LEAST_DAYS) return null;
  const perDay = (from: number, to: number) => Math.round((to - from) / days);
  const isDiskKnown =
    first.diskUsedBytes !== null &&
    last.diskUsedBytes !== null &&
    first.diskTotalBytes === last.diskTotalBytes;
  const diskBytesPerDay = isDiskKnown ? perDay(first.diskUsedBytes ?? 0, last.diskUsedBytes ?? 0) : null;
  const tables = Object.entries(last.tableBytes).flatMap(([name, bytes]): Array<[string, number]> => {
    const before = first.tableBytes[name];
    return before === undefined ? [] : [[name, perDay(before, bytes)]];
  });
  return {
    growth: {
      since: first.measuredAt.toISOString(),
      days: Math.round(days),
      databaseBytesPerDay: perDay(first.databaseBytes, last.databaseBytes),
      diskBytesPerDay,
      diskFullAt: fullAt(at, diskBytesPerDay, freeBytes),
    },
    tableBytesPerDay: Object.fromEntries(tables),
  };
}

function fullAt(from: Date, bytesPerDay: number | null, freeBytes: number | null): string | null {
  if (bytesPerDay === null || bytesPerDay <= 0 || freeBytes === null) return null;
  const days = freeBytes / bytesPerDay;
  return days > LONGEST_DAYS ? null : new Date(from.getTime() + days * DAY_MS).toISOString();
}
