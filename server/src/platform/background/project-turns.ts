// Processes many projects in batches, page by page. Each project has its turn before any has a second one, regardless of how much work it
// has.

/** How many batches one project runs before the next has its turn. */
const BATCHES_A_TURN = 20;
const PROJECTS_A_PAGE = 500;

interface Turns {
  /** Returns the ids of up to `limit` projects with work after the given one, in order. Null starts with the first. */
  listProjects: (after: string | null, limit: number) => Promise<string[]>;
  /** Runs one batch of a project. @returns whether there is more */
  runBatch: (projectId: string) => Promise<boolean>;
  signal?: AbortSignal | undefined;
}

/**
 * Gives each project one turn of batches.
 * @returns whether a project has more work than its turn allowed
 */
export async function takeTurns({ listProjects, runBatch, signal }: Turns): Promise<boolean> {
  let hasMore = false;
  let page: string[] = [];
  do {
    page = await listProjects(page.at(-1) ?? null, PROJECTS_A_PAGE);
    for (const projectId of page) if (await takeTurn({ projectId, runBatch, signal })) hasMore = true;
  } while (page.length === PROJECTS_A_PAGE && signal?.aborted !== true);
  return hasMore;
}

async function takeTurn({
  projectId,
  runBatch,
  signal,
}: Pick<Turns, "runBatch" | "signal"> & { projectId: string }): Promise<boolean> {
  for (let batch = 0; batch < BATCHES_A_TURN; batch++) {
    if (signal?.aborted === true || !(await runBatch(projectId))) return false;
  }
  return true;
}
