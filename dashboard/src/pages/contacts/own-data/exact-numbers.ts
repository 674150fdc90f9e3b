// Whether numbers are kept as they are written: JavaScript holds about 16 digits of one, and makes another number of more. Pure.

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;
/** A string, which is passed over whatever stands in it, or a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi;

/** Its digits and where its point is; the same for 1.50 and 15e-1. */
function valueOf(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === "" ? "0" : `${sign === "-" ? sign : ""}${significant}e${power}`;
}

/** @param number as JSON or an input of numbers has it */
export function isKeptNumber(number: string): boolean {
  const kept = Number(number);
  return Number.isFinite(kept) && valueOf(String(kept)) === valueOf(number);
}

/** Whether all numbers of a JSON text are kept. */
export function areNumbersKept(json: string): boolean {
  return (json.match(STRING_OR_NUMBER) ?? []).every((one) => one.startsWith('"') || isKeptNumber(one));
}
