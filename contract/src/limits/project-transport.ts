// The limits of how a project sends: its rate and its transports.
import { limit, type Limit } from "./limit.ts";

export const PROJECT_TRANSPORT_LIMITS = {
  sendingRate: limit(10_000, "emails per second", "The maximum rate a project can set."),
  projectTransports: limit(5, "transports", "Transports per project."),
  projectTransportUrl: limit(2_000, "characters", "The URL of a project's transport."),
  transportTests: limit(
    30,
    "tests per project and hour",
    "Tests of a project's transports; beyond that, 429 until the window ends.",
  ),
  transportTestSeconds: limit(12, "seconds", "Longest test of a project's transport."),
} as const satisfies Record<string, Limit>;
