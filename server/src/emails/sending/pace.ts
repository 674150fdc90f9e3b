// Reads the sending rates from the configuration.
import type { Config } from "../../platform/settings/config.ts";

/** Returns the limits of emails per second and project (0 for none) and of connections per destination, if any. */
export function paceOf(config: Config): { projectSendsPerSecond: number; destinationConnections?: number } {
  return {
    projectSendsPerSecond: config.PROJECT_SENDS_PER_SECOND,
    ...(config.DESTINATION_CONNECTIONS === 0
      ? {}
      : { destinationConnections: config.DESTINATION_CONNECTIONS }),
  };
}
