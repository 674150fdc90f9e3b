// Translates the reasons that the server stores as finished English text, such as why a step failed.
import { readRecordedReason } from "@postloft/contract/recorded-reasons.ts";
import { translateMessage } from "./t.ts";

/** Returns a reason in the user's language. Reasons that we don't know, such as those of other servers, stay as they are. */
export function reasonText(reason: string): string {
  const translation = readRecordedReason(reason);
  if (translation === null) return translateMessage({ message: reason });
  const { key, values } = translation;
  const { why, ...others } = values;
  return translateMessage({
    message: reason,
    translation: { key, values: why === undefined ? others : { ...others, why: reasonText(String(why)) } },
  });
}
