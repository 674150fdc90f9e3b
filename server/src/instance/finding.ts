// Types of `npm run doctor`: its findings and dependencies.
import type { Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { TransportWatch } from "../transports/transport-watch.ts";

export interface Finding {
  /** The name of the check, in a word or two. */
  check: string;
  state: "ok" | "warning" | "problem";
  message: string;
  /** How to solve the problem. */
  advice?: string;
}

export interface DoctorDependencies {
  config: Config;
  dataDir: string;
  database: Database;
  watches: readonly TransportWatch[];
}

export type Look = (deps: DoctorDependencies) => Promise<Finding | Finding[]>;
