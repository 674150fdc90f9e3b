// Which device a browser runs on, in words.
import { t } from "../../text/t.ts";

/** The first that fits counts: each of them calls itself by the names of those below it. */
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
const MAX_RAW_LENGTH = 60;

/** Which program it was: the browser and its system, or what it calls itself. */
export function deviceOf(agent: string | null): string {
  if (agent === null || agent === "") return t("Unknown program");
  const named = [BROWSERS, SYSTEMS].flatMap(
    (signs) => Object.entries(signs).find(([, sign]) => sign.test(agent))?.[0] ?? [],
  );
  return named.length > 0 ? named.join(", ") : agent.slice(0, MAX_RAW_LENGTH);
}
