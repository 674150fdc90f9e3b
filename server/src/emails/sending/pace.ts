// Reads the sending rates from the configuration.
import type { Config } from "../../platform/config.ts";

/** Returns the sender options for emails per second and project (0 means no limit) and for connections per destination, if limited. */
export function paceOf(config: Config): { projectSendsPerSecond: number; destinationConnections?: number } {
  return {
    projectSendsPerSecond: config.PROJECT_SENDS_PER_SECOND,
    ...(config.DESTINATION_CONNECTIONS === 0
      ? {}
      : { destinationConnections: config.DESTINATION_CONNECTIONS }),
  };
}
