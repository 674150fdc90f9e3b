// Verifies the counts by recounting a sample from the rows (docs/decisions/0044-event-counts.md).
import { transaction, type Database } from "../platform/database/database.ts";
import type { Span } from "./count-queries.ts";
import { countWrongQuarters, sampleCountedProjects, useOneSnapshot } from "./recount-queries.ts";

export interface WrongCount {
  projectId: string;
  /** The dimension of emails (`kind`, `campaign`, …), or `events`. */
  what: string;
  /** Number of quarter hours with counts that differ from the rows. */
  quarters: number;
}

/**
 * Recounts a random sample of projects.
 * @returns the number of checked projects and the differences
 */
export async function recountSample(
  database: Database,
  span: Span,
  projects: number,
): Promise<{ projects: number; wrong: WrongCount[] }> {
  const ids = await sampleCountedProjects(database, projects);
  const wrong: WrongCount[] = [];
  for (const projectId of ids) {
    const found = await transaction(database, async (tx) => {
      await useOneSnapshot(tx);
      return countWrongQuarters(tx, projectId, span);
    });
    wrong.push(...found.map((one) => ({ projectId, ...one })));
  }
  return { projects: ids.length, wrong };
}
