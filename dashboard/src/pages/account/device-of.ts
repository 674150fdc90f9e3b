// Names the program of a session.
import { deviceName } from "@postloft/contract/device-name.ts";
import { t } from "../../text/t.ts";

const MAX_RAW_LENGTH = 60;

/** Returns the browser and its system, or the beginning of the user agent if neither is known. */
export function deviceOf(agent: string | null): string {
  if (agent === null || agent === "") return t("Unknown device");
  return deviceName(agent) ?? agent.slice(0, MAX_RAW_LENGTH);
}
