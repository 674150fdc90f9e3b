// Where a request came from, in words for emails. Pure.
import { deviceName } from "@postloft/contract/device-name.ts";

/** The parts of a request that a session stores about its origin. */
export interface SessionPlace {
  ip: string | undefined;
  headers: { "user-agent"?: string | undefined; cookie?: string | undefined };
}

/** The origin as an email may repeat it, without any text chosen by the requester. */
export interface Place {
  ip: string | null;
  /** Browser and system; null for an unknown program. */
  device: string | null;
}

export function placeOf({ ip, headers }: SessionPlace): Place {
  return { ip: ip ?? null, device: deviceName(headers["user-agent"] ?? "") };
}
