// Names languages in the language of the dashboard.
import { LANGUAGE } from "../../text/t.ts";

const NAMES = new Intl.DisplayNames([LANGUAGE], { type: "language" });

/** Returns the name of the language of a tag in canonical form, such as "Brazilian Portuguese" for `pt-BR`. */
export function languageName(tag: string): string {
  return NAMES.of(tag) ?? tag;
}
