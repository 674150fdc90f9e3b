// The configuration of a step while it is edited.
import type { AddableType } from "./step-kinds.ts";

/** A configuration as in the API. */
export type Config = Readonly<Record<string, unknown>>;

export interface FieldsProps {
  projectId: string;
  /** The event that starts the workflow; its data can be used in conditions. */
  startEvent: string | undefined;
  config: Config;
  /** Null while incomplete. */
  onChange: (config: Config | null) => void;
  /** Error of the last save. */
  error: unknown;
}

/** The configuration of a new step. */
export const FIRST_CONFIGS: Record<AddableType, Config> = {
  SEND_EMAIL: {},
  DELAY: { amount: 1, unit: "days" },
  WAIT_FOR_EVENT: { eventName: "", timeout: 604_800 },
  CONDITION: { operator: "AND", conditions: [{ field: "", operator: "exists" }] },
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
  UPDATE_CONTACT: ["config.updates"],
  WEBHOOK: ["config.url", "config.headers", "config.body"],
  EXIT: ["config.reason"],
};
