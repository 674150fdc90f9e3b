// Where a request came from, in words for emails. Pure.

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
  return { ip: ip ?? null, device: deviceName(headers["user-agent"]) };
}

/** The first match counts, because each browser also claims to be those below it. */
const BROWSERS = {
  Edge: /Edg\//,
  Opera: /OPR\//,
  Firefox: /Firefox\//,
  Chrome: /Chrome\//,
  Safari: /Safari\//,
};
const SYSTEMS = {
  Android: /Android/,
  iOS: /iPhone|iPad/,
  Windows: /Windows/,
  macOS: /Mac OS X/,
  Linux: /Linux/,
};

/** Returns a name such as `Firefox, Linux`; null if neither is known, because the text is the requester's own. */
function deviceName(userAgent: string | undefined): string | null {
  const names = [BROWSERS, SYSTEMS].flatMap(
    (signs) => Object.entries(signs).find(([, sign]) => sign.test(userAgent ?? ""))?.[0] ?? [],
  );
  return names.length > 0 ? names.join(", ") : null;
}
