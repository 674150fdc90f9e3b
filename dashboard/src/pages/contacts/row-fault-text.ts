// Translates the reason why a row of a file can't be imported.
import type { RowFault, RowFaultCode } from "@postloft/contract/row-faults.ts";
import { translateParts } from "../../text/say-all.ts";
import { t } from "../../text/t.ts";

type Name = "most" | "character" | "cells" | "columns" | "column" | "value" | "key" | "why";
type Values = Record<Name, string | number>;

const CHARACTERS: Readonly<Record<string, string>> = {
  "A line break": t("A line break"),
  "A space": t("A space"),
  "A quotation mark": t("A quotation mark"),
};
const BY_NUMBER = /^The character (U\+\w+)$/;

function characterText(character: string | number): string {
  const number = BY_NUMBER.exec(String(character))?.[1];
  if (number !== undefined) return t("The character {number}", { number });
  return CHARACTERS[character] ?? String(character);
}

const SENTENCES: Record<RowFaultCode, (values: Values) => string> = {
  "address.long": () => t("The email address is too long."),
  "address.empty": () => t("The email address is missing."),
  "address.noAt": () => t("The email address has no “@”."),
  "address.severalAt": () => t("Enter one email address. This one has several “@”."),
  "address.longerThan": (values) => t("The email address is longer than {most} bytes.", values),
  "address.nothingBefore": () => t("The part before the “@” is missing."),
  "address.characterBefore": ({ character }) =>
    t("{character} isn't allowed before the “@”.", { character: characterText(character) }),
  "address.dotBefore": () => t("The part before the “@” can't start or end with a dot or have two in a row."),
  "address.lookalikeBefore": () =>
    t("The part before the “@” mixes alphabets and could be mistaken for another address."),
  "address.longBefore": (values) => t("The part before the “@” is longer than {most} bytes.", values),
  "domain.missing": () => t("The domain is missing."),
  "domain.ip": () => t("Enter a domain instead of an IP address."),
  "domain.character": ({ character }) =>
    t("{character} isn't allowed in the domain.", { character: characterText(character) }),
  "domain.endsWithDot": () => t("The domain can't end with a dot."),
  "domain.lookalike": () => t("The domain mixes alphabets and could be mistaken for another one."),
  "domain.invalid": () => t("The domain isn't valid."),
  "domain.longerThan": (values) => t("The domain is longer than {most} bytes.", values),
  "domain.dots": () => t("The domain can't start with a dot or have two in a row."),
  "domain.longPart": (values) => t("A part of the domain is longer than {most} bytes.", values),
  "domain.hyphen": () => t("No part of the domain can start or end with a hyphen."),
  "domain.onePart": () => t("Enter a full domain, such as example.com."),
  "domain.number": () => t("The domain can't end in a number."),
  "row.quoteOpen": () => t("A quoted cell is never closed."),
  "row.quoteFollowed": () => t("There is text after a closing quote."),
  "row.long": (values) => t("The row has more than {most} bytes.", values),
  "row.manyCells": (values) => t("The row has more than {most} cells.", values),
  "row.moreCells": (values) =>
    t(
      "The row has {cells} cells but the file has {columns} columns. Put quotes around cells with separators.",
      values,
    ),
  "row.severalAddresses": () => t("The cell has more than one address. Put each in its own row."),
  "row.subscribed": ({ column = "subscribed", value }) =>
    t("{value} in column {column} isn't a known subscription status. Correct it or map it.", {
      column,
      value,
    }),
  "row.value": (values) => t("The value of {key} isn't valid: {why}", values),
  "row.dataLong": (values) => t("The data is larger than {most} bytes.", values),
  "row.notStored": () => t("The database can't store this row."),
  "contact.dataLong": (values) => t("The data of one contact can be up to {most} bytes.", values),
  "contact.manyKeys": (values) => t("The data of one contact can have up to {most} fields.", values),
  "contact.manyFields": (values) =>
    t("Contacts can have up to {most} fields. Delete unused fields or reuse existing ones.", values),
  "contact.exists": () => t("Another contact in this project has this email address."),
};

interface RowError {
  error: string;
  errorParts?: readonly RowFault[] | undefined;
}

export function rowFaultText(fault: RowFault): string {
  return translateParts(SENTENCES, [fault]);
}

/** Uses the server's text for imports by a previous version, which have no codes. */
export function rowErrorText({ error, errorParts = [] }: RowError): string {
  return errorParts.length === 0 ? error : translateParts(SENTENCES, errorParts);
}
