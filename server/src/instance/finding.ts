// What `npm run doctor` finds, and what it needs to look.
import type { Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { TransportWatch } from "../transports/transport-watch.ts";

export interface Finding {
  /** What was looked at, in a word or two. */
  check: string;
  state: "ok" | "warning" | "problem";
  message: string;
  /** What to do about it. */
  advice?: string;
}

export interface DoctorParts {
  config: Config;
  dataDir: string;
  database: Database;
  watches: readonly TransportWatch[];
}

export type Look = (parts: DoctorParts) => Promise<Finding | Finding[]>;
