// Why a row of a file can't be imported, in the viewer's language.
import type { RowFault, RowFaultCode } from "@postloft/contract/row-faults.ts";
import { sayAll } from "../../text/say-all.ts";
import { t } from "../../text/t.ts";

type Name = "most" | "character" | "cells" | "columns" | "column" | "value" | "key" | "why";
/** Each sentence takes those that it names. */
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
  "address.long": () => t("The address is too long."),
  "address.empty": () => t("The address is empty."),
  "address.noAt": () => t("The address has no “@”."),
  "address.severalAt": () => t("There is more than one “@”: exactly one address is expected here."),
  "address.longerThan": (values) => t("The address is longer than {most} bytes.", values),
  "address.nothingBefore": () => t("There is nothing before the “@”."),
  "address.characterBefore": ({ character }) =>
    t("{character} is not allowed before the “@”.", { character: characterText(character) }),
  "address.dotBefore": () => t("Before the “@” a dot may not come first, last or twice in a row."),
  "address.lookalikeBefore": () => t("A letter before the “@” could be mistaken for another one."),
  "address.longBefore": (values) => t("The part before the “@” is longer than {most} bytes.", values),
  "domain.missing": () => t("The domain is missing."),
  "domain.ip": () => t("An IP address cannot stand in for the domain."),
  "domain.character": ({ character }) =>
    t("{character} is not allowed in the domain.", { character: characterText(character) }),
  "domain.endsWithDot": () => t("The domain may not end with a dot."),
  "domain.lookalike": () => t("A letter of the domain could be mistaken for another one."),
  "domain.invalid": () => t("The domain is not a valid name."),
  "domain.longerThan": (values) => t("The domain is longer than {most} bytes.", values),
  "domain.dots": () => t("The domain may not start with a dot or have two in a row."),
  "domain.longPart": (values) => t("A part of the domain is longer than {most} bytes.", values),
  "domain.hyphen": () => t("A part of the domain may not start or end with a hyphen."),
  "domain.onePart": () => t("The domain needs at least two parts, such as example.com."),
  "domain.number": () => t("The domain may not end in a number."),
  "row.quoteOpen": () => t("A quoted cell is not closed."),
  "row.quoteFollowed": () => t("There is text behind a closing quote."),
  "row.long": (values) => t("The row has more than {most} bytes.", values),
  "row.manyCells": (values) => t("The row has more than {most} cells.", values),
  "row.moreCells": (values) =>
    t(
      "The row has {cells} cells, and there are {columns} columns. A cell that holds a separator must be in quotes.",
      values,
    ),
  "row.severalAddresses": () => t("The cell contains more than one address. Put each in a row of its own."),
  "row.subscribed": ({ column = "subscribed", value }) =>
    t(
      "{value} in the column {column} is not a known subscription status. Correct it, or map it to a status.",
      { column, value },
    ),
  "row.value": (values) => t("The value of {key} is refused: {why}", values),
  "row.dataLong": (values) => t("The data has more than {most} bytes.", values),
  "row.notStored": () => t("The database cannot store this row."),
  "contact.dataLong": (values) => t("The data of one contact may have at most {most} bytes.", values),
  "contact.manyKeys": (values) => t("The data of one contact may have at most {most} fields.", values),
  "contact.manyFields": (values) =>
    t(
      "The contacts of a project may have at most {most} fields. Delete one that is not needed, or use those that are there.",
      values,
    ),
  "contact.exists": () => t("Another contact of this project has this e-mail address."),
};

interface RowError {
  error: string;
  errorParts?: readonly RowFault[] | undefined;
}

export function rowFaultText(fault: RowFault): string {
  return sayAll(SENTENCES, [fault]);
}

/** As the server says it where the import is one of a former version. */
export function rowErrorText({ error, errorParts = [] }: RowError): string {
  return errorParts.length === 0 ? error : sayAll(SENTENCES, errorParts);
}
