// Converts the inline styles of emails for React.
import type { CSSProperties } from "react";

/** Returns declarations such as `font-size:16px;color:#000` as React expects them. */
export function styleOf(css: string): CSSProperties {
  const declarations = css.split(";").map((one): [string, string] => {
    const colon = one.indexOf(":");
    const name = one
      .slice(0, colon)
      .replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    return [name, one.slice(colon + 1)];
  });
  return Object.fromEntries(declarations);
}
