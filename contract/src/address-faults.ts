// Why a text is no e-mail address, by code: a program and the dashboard say it in words of their own.
import { sayerOf, type Said } from "./advice.ts";

/** By code, with `{names}` of what is filled in. */
export const ADDRESS_FAULTS = {
  "address.long": "The address is too long.",
  "address.empty": "The address is empty.",
  "address.noAt": 'The address has no "@".',
  "address.severalAt": 'There is more than one "@": exactly one address is expected here.',
  "address.longerThan": "The address is longer than {most} octets.",
  "address.nothingBefore": 'There is nothing before the "@".',
  "address.characterBefore": '{character} is not allowed before the "@".',
  "address.dotBefore": 'Before the "@" a dot may not come first, last or twice in a row.',
  "address.lookalikeBefore": 'A letter before the "@" could be mistaken for another one.',
  "address.longBefore": 'The part before the "@" is longer than {most} octets.',
  "domain.missing": "The domain is missing.",
  "domain.ip": "An IP address cannot stand in for the domain.",
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

/** The fault of a code, with its values filled in. */
export const faultOfAddress = sayerOf<AddressFaultCode>(ADDRESS_FAULTS);
