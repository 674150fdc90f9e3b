// Reasons why a text is not a valid email address, by code, so that programs and the dashboard can use their own wording.
import { sentenceBuilderOf, type Said } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const ADDRESS_FAULTS = {
  "address.long": "The address is too long.",
  "address.empty": "The address is empty.",
  "address.noAt": 'The address has no "@".',
  "address.severalAt": 'There is more than one "@". Enter exactly one address.',
  "address.longerThan": "The address is longer than {most} octets.",
  "address.nothingBefore": 'There is nothing before the "@".',
  "address.characterBefore": '{character} is not allowed before the "@".',
  "address.dotBefore": 'Before the "@" a dot may not come first, last or twice in a row.',
  "address.lookalikeBefore": 'A letter before the "@" could be mistaken for another one.',
  "address.longBefore": 'The part before the "@" is longer than {most} octets.',
  "domain.missing": "The domain is missing.",
  "domain.ip": "The domain cannot be an IP address.",
  "domain.character": "{character} is not allowed in the domain.",
  "domain.endsWithDot": "The domain may not end with a dot.",
  "domain.lookalike": "A letter of the domain could be mistaken for another one.",
  "domain.invalid": "The domain is not a valid name.",
  "domain.longerThan": "The domain is longer than {most} octets.",
  "domain.dots": "The domain may not start with a dot or have two in a row.",
  "domain.longPart": "A part of the domain is longer than {most} octets.",
  "domain.hyphen": "A part of the domain may not start or end with a hyphen.",
  "domain.onePart": "The domain needs at least two parts, such as example.com.",
  "domain.number": "The domain may not end in a number.",
} as const;
export type AddressFaultCode = keyof typeof ADDRESS_FAULTS;
export type AddressFault = Said<AddressFaultCode>;

/** Returns the fault for a code with its values filled in. */
export const faultOfAddress = sentenceBuilderOf<AddressFaultCode>(ADDRESS_FAULTS);
