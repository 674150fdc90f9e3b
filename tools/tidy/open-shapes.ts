// The exceptions from the rule about statements that a sharded database rejects.

const SKIP_SCAN =
  "a skip scan finds the projects with work quickly, while SELECT DISTINCT reads every waiting row";

const NO_PARAMETERS = "a fragment that contains no parameters";

const ON_ONE_POSTGRES = "a cluster uses another statement";

/** Exceptions with their reasons, as `file shape`. A `queries.ts` is named with its folder. */
export const OPEN_SHAPES: Readonly<Record<string, string>> = {
  "audit/queries.ts row locks over projects":
    "one statement for the logs of all affected projects, in a fixed order",
  "batch-queries.ts row locks over projects": "limited to one project by a fragment",
  "entry-queries.ts row locks over projects": "due schedules, few of very many",
  "count-queries.ts parameter in DO UPDATE of INSERT … SELECT": NO_PARAMETERS,
  "suppressions/queries.ts parameter in DO UPDATE of INSERT … SELECT": NO_PARAMETERS,
  "date-queries.ts recursive query over projects": ON_ONE_POSTGRES,
  "due-queue-queries.ts recursive query over projects": ON_ONE_POSTGRES,
  "execution-queries.ts recursive query over projects": ON_ONE_POSTGRES,
  "webhooks/queries.ts recursive query over projects": ON_ONE_POSTGRES,
  "retention-queries.ts recursive query over projects":
    "finds the projects of a partition; a cluster does not remove old partitions yet (docs/scaling.md)",
  "page.ts recursive query over projects": "reads a page that its caller limits to one project",
  "page.ts correlated query over a CTE": "reads a page that its caller limits to one project",
  "execution-queries.ts LATERAL with LIMIT over projects": SKIP_SCAN,
  "submission-queries.ts row locks over projects": "everything one sender holds, in all projects",
  "measure-queries.ts LATERAL with LIMIT over projects": SKIP_SCAN,
  "throttled-queries.ts row locks over projects": "due throttled domains, few of all",
  "recipient-queries.ts row locks over projects": "limited to one project by a column: docs/decisions/0027",
  "requests/queries.ts row locks over projects": "concurrent sweeps must not wait for each other",
  "resolve-queries.ts clock or query in DO UPDATE": "the time of the last decision",
  "scoped-keys/queries.ts row locks over projects": "one update for all used keys, which waits for no lock",
  "due-queue-queries.ts LATERAL with LIMIT over projects": SKIP_SCAN,
  "webhooks/queries.ts LATERAL with LIMIT over projects": SKIP_SCAN,
};
