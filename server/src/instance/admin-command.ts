// Types of the `npm run admin` commands: arguments, options and result.
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";

export interface Around {
  database: Database;
  /**
   * Opens the sealer, which only commands with keys need.
   * @throws StartError if the secret is missing
   */
  openSealer(): Promise<Sealer>;
  readInput(): Promise<string>;
  /** Prints a line about work that takes long. Not part of the result. */
  progress: (line: string) => void;
}

export interface Reported {
  json: object;
  lines: readonly string[];
  /** The exit code, if it is not 0. */
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
  "block-writes": { type: "boolean" },
  json: { type: "boolean" },
} as const;
export type Option = keyof typeof OPTIONS;
type Flag = "password-stdin" | "block-writes";
export type Values = Partial<Record<Exclude<Option, "json" | Flag>, string>> & Partial<Record<Flag, boolean>>;
export const IDS: readonly Option[] = ["project", "campaign", "after", "to"];

export interface Command {
  /** The argument after the command's name, if there is one. */
  argument?: string;
  needs?: readonly Option[];
  takes?: readonly Option[];
  /** Runs before the migrations, if they must not change a database in which the command would fail. */
  check?: (database: Database) => Promise<void>;
  run(around: Around, argument: string, values: Values): Promise<Reported>;
}
