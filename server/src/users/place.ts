// Where a request came from, in words for emails. Pure.
import { deviceName } from "@postloft/contract/device-name.ts";

/** A request, as far as sessions keep where they began. */
export interface SessionPlace {
  ip: string | undefined;
  headers: { "user-agent"?: string | undefined; cookie?: string | undefined };
}

/** As far as an email may repeat it: never words of the requester's choice. */
export interface Place {
  ip: string | null;
  /** Browser and system; null for a program that is not known. */
  device: string | null;
}

export function placeOf({ ip, headers }: SessionPlace): Place {
  return { ip: ip ?? null, device: deviceName(headers["user-agent"] ?? "") };
}
