// The configuration of a step while it is edited.
import { t } from "../../../text/t.ts";
import type { AddableType } from "./step-kinds.ts";

/** A configuration as in the API. */
export type Config = Readonly<Record<string, unknown>>;

/** The new names of stored branches by their former names, or null for those that were removed. */
export type RenamedBranches = Readonly<Record<string, string | null>>;

export interface FieldsProps {
  projectId: string;
  /** The event that starts the workflow; its data can be used in conditions. */
  startEvent: string | undefined;
  config: Config;
  /** Null while incomplete. */
  onChange: (config: Config | null, renamedBranches?: RenamedBranches) => void;
  /** Error of the last save. */
  error: unknown;
}

/** The configuration of a new step. */
export const FIRST_CONFIGS: Record<AddableType, Config> = {
  SEND_EMAIL: {},
  DELAY: { amount: 1, unit: "days" },
  WAIT_FOR_EVENT: { eventName: "", timeout: 604_800 },
  CONDITION: { operator: "AND", conditions: [{ field: "", operator: "exists" }] },
  BRANCH: {
    branches: [
      {
        name: t("Branch {n}", { n: 1 }),
        filter: { operator: "AND", conditions: [{ field: "", operator: "exists" }] },
      },
    ],
  },
  RANDOM_SPLIT: {
    shares: [
      { name: "A", percent: 50 },
      { name: "B", percent: 50 },
    ],
  },
  UPDATE_CONTACT: { updates: {} },
  WEBHOOK: { url: "", method: "POST" },
  EXIT: {},
};

/** Fields of the API with an input, which shows their error. */
export const AT_INPUTS: Record<AddableType, readonly string[]> = {
  SEND_EMAIL: ["templateId", "config.recipient"],
  DELAY: [
    "config.amount",
    "config.unit",
    "config.until",
    "config.timezone",
    "config.weekdays",
    "config.dateField",
  ],
  WAIT_FOR_EVENT: ["config.eventName", "config.timeout"],
  CONDITION: ["config.conditions."],
  BRANCH: ["config.branches."],
  RANDOM_SPLIT: ["config.shares."],
  UPDATE_CONTACT: ["config.updates"],
  WEBHOOK: ["config.url", "config.headers", "config.body"],
  EXIT: ["config.reason"],
};
