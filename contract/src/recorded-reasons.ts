// The sentences that say why an email or a step failed or was skipped, why an execution ended, or why a call of a webhook failed. They are
// stored as finished English text. Their values can be found again in the text, so that programs can translate it.
import { fillIn } from "./advice.ts";
import type { Placeholder, Translation } from "./translation.ts";

/** Sentences with `{names}` in place of values. `{why}` stands for another sentence. */
export const RECORDED_REASONS = {
  cancelled: "Canceled by a user.",
  cancelledWithAll: "Canceled with all others.",
  internal: "The step failed because of an internal error. Details are in the log. Try it again.",
  tooManySteps: "More than {most} steps. A retry allows as many more.",

  contactDeleted: "The contact was deleted.",
  endedByMove: "Ended by a user who moved the executions of the workflow to another version.",
  executionMoved: "The execution was moved to another step.",

  campaignCancelled: "The campaign was canceled.",
  suppressedComplaint: "The address is on the suppression list because of a spam complaint.",
  suppressedBounce: "The address is on the suppression list because an email bounced.",
  suppressedManual: "The address is on the suppression list because a user added it.",
  suppressedImport: "The address is on the suppression list because it was imported.",
  emailCancelled: "The email was canceled.",
  emailHeld:
    "Held: the database was rolled back to an earlier state, so this email may have been sent already. An instance admin must release or drop it.",
  emailDropped:
    "Dropped: the database was rolled back to an earlier state, so this email may have been sent already.",
  executionHeld:
    "Held: the database was rolled back to an earlier state, so the next steps may have happened already. An instance admin must release or drop it.",
  executionDropped:
    "Dropped: the database was rolled back to an earlier state, so the next steps may have happened already.",
  senderStopped:
    "The sender stopped while it sent the email, so it is unknown whether the mail server accepted it.",
  resolvedAsFailed: "The email was in doubt, and a user said that the mail server didn't accept it.",
  senderNotVerified: "The sender's domain is not verified.",
  contentMissing: "The content of the email is missing.",
  fileMissing: "A file of the email is missing.",
  notRendered: "The email was not rendered.",
  partTooLarge: "The {part} is larger than {size}.",
  subjectTooLong: "The subject is longer than {most} characters after filling in its variables.",
  variablesInvalid: "The variables are not plain data: {message}",
  templateFailed: "The template could not be rendered.",
  templateTooLarge: "The template took too much memory.",
  readingTooSlow: "The template took longer than {ms} ms to read.",
  renderingTooSlow: "The template took longer than {ms} ms to render.",
  renderingStopped: "The template could not be rendered: its thread stopped.",
  rendererClosed: "The renderer is closed.",
  messageTooLarge: "The message is larger than {most} bytes.",
  notBuilt: "The message could not be built: {message}",

  noTemplate: "The step has no template.",
  templateDeleted: "The template of the step was deleted.",
  noSender: "Neither the template nor the project has a sender.",
  domainNotVerified: "The domain {domain} is not verified in this project.",
  noRecipient: "With its variables, the custom recipient is not an email address.",
  alreadySent: "The email was already sent before the move to another step.",
  notSubscribed: "The contact is not subscribed.",
  capReached: "This month's cap on workflow emails is reached.",
  publicKeyLimit: "The limit on emails to one contact because of events sent with a public key was reached.",
  firstEmailLimit: "The hourly limit on first emails because of events sent with a public key was reached.",
  publicKeyRecipient: "Events sent with a public key can't cause an email to an address from a variable.",

  noTimeZone: "The contact has no “data.timezone”, so UTC was used.",
  unknownTimeZone: "The contact's “data.timezone” is not a time zone of the IANA database, so UTC was used.",
  noDate: "“{field}” has no value.",
  notADate: "“{field}” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: {value}.",
  valueMissing: "The value of “{field} {operator}” is missing.",
  notComparable: "The value of “{field} {operator}” can't be compared. {why}",
  conditionTooLarge: "The condition searches too much of this contact's data.",
  exitConditionTooLarge: "An exit condition searches too much of this contact's data.",
  updatesTooLong: "The updates have more than {most} characters.",
  textTooLong: "With its variables, the step has more than {most} characters.",
  tooManyRounds: "The loops of the step have more than {most} rounds.",

  exitEvent: 'Exit condition: the event "{event}" happened.',
  exitSegment: 'Exit condition: the contact is not in the segment "{segment}".',
  exitFilter: "Exit condition: {filter}",

  secretUnreadable: "The secret cannot be read.",
  endpointSecretUnreadable: "The secret of the endpoint cannot be read.",
  headerInvalid: "The header {name} can't be sent. {why}",
  variableInHost: "A variable can't be part of the host.",
  emptyPart: "A variable in the path of the URL has no value.",
  dotsInPath: 'A part of the path can\'t be "." or "..".',
  urlTooLong: "With its variables, the URL is too long.",
  objectInUrl: "A variable in the URL is an object. Use one of its values.",

  responded: "The endpoint responded with {status}.",
  redirected:
    "The endpoint responded with {status}, a redirect, which is not followed. Use the target address.",
  noResponse: "The endpoint did not respond within {seconds} s.",
  responseTooSlow: "The response ({status}) did not end within {seconds} s.",
  callFailed: "The call failed: {message}",
  privateAddress: "{host} is an address outside the public internet.",
  resolvesToPrivate: "{host} resolves to an address outside the public internet.",
  noDnsResponse: "DNS did not respond for {host}.",
  noDnsAddress: "DNS has no address for {host}.",
  allCallsFailed: "All calls failed for {days} days.",
  callDropped:
    "Dropped: the database was rolled back to an earlier state, so this call may have been made already.",
} as const;
type ReasonCode = keyof typeof RECORDED_REASONS;

type Values<Code extends ReasonCode> = Record<Placeholder<(typeof RECORDED_REASONS)[Code]>, string | number>;

/** Returns a reason with its values, in English. Numbers have no thousands separators. */
export function recordedReason<const Code extends ReasonCode>(
  code: Code,
  ...[values]: [Placeholder<(typeof RECORDED_REASONS)[Code]>] extends [never] ? [] : [values: Values<Code>]
): string {
  const texts = Object.entries<string | number>(values ?? {}).map(([name, value]) => [name, String(value)]);
  return fillIn(RECORDED_REASONS[code], Object.fromEntries(texts) as Record<string, string>);
}

/**
 * Returns the sentence and the values of a stored reason, or null for other texts, such as the reply of a mail server. If several sentences
 * fit, it takes the one with the most characters of its own, because the value of a shorter one would contain the rest of it.
 */
export function readRecordedReason(text: string): Translation | null {
  const found = Object.values(RECORDED_REASONS).flatMap((key) => {
    const values = valuesIn(text, key);
    return values === null ? [] : [{ key, values, own: ownLength(key) }];
  });
  const [best] = found.toSorted((one, other) => other.own - one.own);
  return best === undefined ? null : { key: best.key, values: best.values };
}

const PLACEHOLDER = /\{(\w+)\}/;

const ownLength = (key: string) =>
  partsOf(key).reduce((sum, part, at) => sum + (at % 2 === 0 ? part.length : 0), 0);

/** Returns text, name, text, name, and so on, ending with a text. */
const partsOf = (key: string) => key.split(PLACEHOLDER);

/** Returns the values if the text is this sentence. Each value ends where the next part of the sentence first appears. */
function valuesIn(text: string, key: string): Record<string, string> | null {
  const [start = "", ...rest] = partsOf(key);
  if (!text.startsWith(start)) return null;
  const values: Record<string, string> = {};
  let from = start.length;
  for (let at = 0; at < rest.length; at += 2) {
    const [name = "", after = ""] = rest.slice(at, at + 2);
    const isLast = at + 2 >= rest.length;
    const end = isLast ? text.length - after.length : text.indexOf(after, from);
    if (end < from || !text.startsWith(after, end)) return null;
    values[name] = text.slice(from, end);
    from = end + after.length;
  }
  return from === text.length ? values : null;
}
