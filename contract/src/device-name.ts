// Names the browser and the system of a user agent, for emails about sign-ins and for the list of sessions.

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

/** Returns a name such as `Firefox, Linux`, made of our own words; null if neither browser nor system is known. */
export function deviceName(userAgent: string): string | null {
  const names = [BROWSERS, SYSTEMS].flatMap(
    (signs) => Object.entries(signs).find(([, sign]) => sign.test(userAgent))?.[0] ?? [],
  );
  return names.length > 0 ? names.join(", ") : null;
}
