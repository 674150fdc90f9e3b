// Why a row of an imported file is left out, by code: a program and the dashboard say it in words of their own.
import { ADDRESS_FAULTS, type AddressFaultCode } from "./address-faults.ts";
import { saidBy, sayerOf, type Said } from "./advice.ts";

/** By code, with `{names}` of what is filled in. */
export const ROW_FAULTS = {
  ...ADDRESS_FAULTS,
  "row.quoteOpen": "A quoted cell is not closed.",
  "row.quoteFollowed": "There is text behind a closing quote.",
  "row.long": "The row has more than {most} bytes.",
  "row.manyCells": "The row has more than {most} cells.",
  "row.moreCells":
    "The row has {cells} cells, and there are {columns} columns. A cell that holds a separator must be in quotes.",
  "row.severalAddresses": "The cell contains more than one address. Put each in a row of its own.",
  "row.subscribed":
    "{value} in the column {column} is not a known subscription status. Correct it, or map it to a status.",
  "row.value": "The value of {key} is refused: {why}",
  "row.dataLong": "The data has more than {most} bytes.",
  "contact.dataLong": "The data of one contact may have at most {most} bytes.",
  "contact.manyKeys": "The data of one contact may have at most {most} keys.",
  "contact.manyFields":
    "The contacts of a project may have at most {most} fields. Delete one that is not needed (DELETE /contacts/fields/:field), or use those that are there.",
  "contact.exists": "Another contact of this project has this e-mail address.",
  "row.notStored": "The database cannot store this row.",
} as const;
export type RowFaultCode = keyof typeof ROW_FAULTS | AddressFaultCode;
export type RowFault = Said<RowFaultCode>;

export const rowFault = saidBy<RowFaultCode>(ROW_FAULTS);
/** The fault of a code, with its values filled in. */
export const faultOfRow = sayerOf<RowFaultCode>(ROW_FAULTS);
