// Reasons why an address, a name or a domain is not valid, as results of parsing and as messages of errors.
import {
  ADDRESS_FAULTS,
  faultOfAddress,
  type AddressFault,
  type AddressFaultCode,
} from "./address-faults.ts";
import type { AdviceValues } from "./advice.ts";
import { asMessage, type ErrorMessage, type Translation, type Wording } from "./translation.ts";

/** A text that is not valid, and the reason. */
export interface Refused {
  ok: false;
  reason: string;
  /** The reason for translation, if it has values. */
  translation?: Translation | undefined;
}

/** Returns the reason as the message of an error. */
export function messageOf({ reason, translation }: Refused): ErrorMessage {
  return { message: reason, translation };
}

/** Returns a reason without a code. */
export function refuse(wording: Wording): Refused {
  const { message, translation } = asMessage(wording);
  return { ok: false, reason: message, translation };
}

export interface RefusedAs extends Refused {
  /** The reason by code, with its values. */
  fault: AddressFault;
}

/** Returns a reason by its code. */
export function refuseAs(code: AddressFaultCode, values: AdviceValues = {}): RefusedAs {
  const fault = faultOfAddress(code, values);
  const translation = { key: ADDRESS_FAULTS[code], values: fault.values };
  return {
    ok: false,
    reason: fault.text,
    fault,
    ...(Object.keys(values).length === 0 ? {} : { translation }),
  };
}
