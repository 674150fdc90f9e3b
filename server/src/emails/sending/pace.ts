// How fast mail may leave, as the settings say it.
import type { Config } from "../../platform/config.ts";

/** What the sender is told: mails a second of one project (0: no limit), and connections to one destination where there is a limit. */
export function paceOf(config: Config): { projectSendsPerSecond: number; destinationConnections?: number } {
  return {
    projectSendsPerSecond: config.PROJECT_SENDS_PER_SECOND,
    ...(config.DESTINATION_CONNECTIONS === 0
      ? {}
      : { destinationConnections: config.DESTINATION_CONNECTIONS }),
  };
}
