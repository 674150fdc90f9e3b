// The shape of a command of `npm run admin`: its arguments, options and result.
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";

export interface Around {
  database: Database;
  /** For what makes keys; nothing else needs the secret. @throws StartError where it is gone */
  openSealer(): Promise<Sealer>;
  readInput(): Promise<string>;
}

export interface Told {
  json: object;
  lines: readonly string[];
  /** The exit code, where it is not 0. */
  code?: number;
}

export const OPTIONS = {
  project: { type: "string" },
  campaign: { type: "string" },
  after: { type: "string" },
  owner: { type: "string" },
  to: { type: "string" },
  reason: { type: "string" },
  scopes: { type: "string" },
  expires: { type: "string" },
  networks: { type: "string" },
  "password-stdin": { type: "boolean" },
  json: { type: "boolean" },
} as const;
export type Option = keyof typeof OPTIONS;
export type Values = Partial<Record<Exclude<Option, "json" | "password-stdin">, string>> & {
  "password-stdin"?: boolean;
};
export const IDS: readonly Option[] = ["project", "campaign", "after", "to"];

export interface Command {
  /** What stands after its name, if anything. */
  argument?: string;
  needs?: readonly Option[];
  takes?: readonly Option[];
  /** Runs on a database that is older than this program. */
  isBeforeUpgrade?: true;
  run(around: Around, argument: string, values: Values): Promise<Told>;
}
