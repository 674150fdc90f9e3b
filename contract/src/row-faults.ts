// Reasons why a row of an imported file is skipped, by code, so that programs and the dashboard can use their own wording.
import { ADDRESS_FAULTS, type AddressFaultCode } from "./address-faults.ts";
import { sentenceSchema, sentenceBuilderOf, type Said } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const ROW_FAULTS = {
  ...ADDRESS_FAULTS,
  "row.quoteOpen": "A quoted cell is not closed.",
  "row.quoteFollowed": "There is text after a closing quote.",
  "row.long": "The row has more than {most} bytes.",
  "row.manyCells": "The row has more than {most} cells.",
  "row.moreCells":
    "The row has {cells} cells, but there are {columns} columns. A cell that contains a separator must be in quotes.",
  "row.severalAddresses": "The cell contains more than one address. Put each address in a separate row.",
  "row.subscribed":
    "{value} in the column {column} is not a known subscription status. Correct it, or map it to a status.",
  "row.value": "The value of {key} is invalid: {why}",
  "row.dataLong": "The data has more than {most} bytes.",
  "contact.dataLong": "The data of one contact may have at most {most} bytes.",
  "contact.manyKeys": "The data of one contact may have at most {most} keys.",
  "contact.manyFields":
    "The contacts of a project may have at most {most} fields. Delete an unused field (DELETE /contacts/fields/:field), or use existing ones.",
  "contact.exists": "Another contact of this project has this email address.",
  "row.notStored": "The database cannot store this row.",
} as const;
export type RowFaultCode = keyof typeof ROW_FAULTS | AddressFaultCode;
export type RowFault = Said<RowFaultCode>;

export const rowFault = sentenceSchema<RowFaultCode>(ROW_FAULTS);
/** Returns the fault for a code with its values filled in. */
export const faultOfRow = sentenceBuilderOf<RowFaultCode>(ROW_FAULTS);
