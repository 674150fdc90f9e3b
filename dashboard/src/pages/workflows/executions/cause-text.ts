// Translates the errors of failed steps that we know. Others come from endpoints and stay as they are.
import { t } from "../../../text/t.ts";

type Values = Readonly<Record<string, string>>;

const CAUSES: ReadonlyArray<readonly [RegExp, (values: Values) => string]> = [
  [
    /^The endpoint responded with (?<status>\d+)\.$/,
    ({ status = "" }) => t("The endpoint responded with {status}.", { status }),
  ],
  [
    /^The endpoint did not respond within (?<seconds>[\d.]+) s\.$/,
    ({ seconds = "" }) => t("The endpoint didn't respond within {seconds} s.", { seconds }),
  ],
  [/^Cancelled by a person\.$/, () => t("Canceled by a user.")],
  [/^Cancelled with all others\.$/, () => t("Canceled with all others.")],
  [/^The template of the step was deleted\.$/, () => t("The template of the step was deleted.")],
  [/^The step has no template\.$/, () => t("The step has no template.")],
  [
    /^Neither the template nor the project has a sender\.$/,
    () => t("Neither the template nor the project has a sender."),
  ],
  [
    /^The domain (?<domain>\S+) is not verified in this project\.$/,
    ({ domain = "" }) => t("The domain {domain} isn't verified in this project.", { domain }),
  ],
  [
    /^A variable in the path of the URL has no value\.$/,
    () => t("A variable in the path of the URL has no value."),
  ],
  [/^There is no `(?<field>[^`]+)`\.$/, ({ field = "" }) => t("“{field}” has no value.", { field })],
  [
    /^`(?<field>[^`]+)` is not a date such as .*?Z: (?<value>.*)\.$/,
    ({ field = "", value = "" }) => t("“{field}” isn't a date: {value}", { field, value }),
  ],
  [
    /^More than (?<most>\d+) steps\. A retry allows as many more\.$/,
    ({ most = "" }) => t("More than {most} steps. A retry allows as many more.", { most }),
  ],
];

/** Returns an error of a step in the language of the user. */
export function causeText(error: string): string {
  for (const [pattern, text] of CAUSES) {
    const match = pattern.exec(error);
    if (match !== null) return text(match.groups ?? {});
  }
  return error === "" ? t("Unknown error") : error;
}
