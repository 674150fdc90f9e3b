// Types of `npm run doctor`: its findings and dependencies.
import type { ErrorMessage } from "@postloft/contract/translation.ts";
import type { Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { TransportWatch } from "../transports/transport-watch.ts";

export interface Finding extends ErrorMessage {
  /** The name of the check, in a word or two. */
  check: string;
  state: "ok" | "warning" | "problem";
  /** How to solve the problem. */
  advice?: string;
}

/** What the quick checks need. */
export interface QuickDependencies {
  dataDir: string;
  /** Whether DATABASE_URL names the database. */
  isElsewhere: boolean;
  database: Database;
}

export interface DoctorDependencies extends QuickDependencies {
  config: Config;
  watches: readonly TransportWatch[];
}

export type Look = (deps: DoctorDependencies) => Promise<Finding | Finding[]>;
