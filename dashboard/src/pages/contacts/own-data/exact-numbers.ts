// Detects numbers that JavaScript cannot represent, because it keeps only about 16 digits. Pure.

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;
/** Matches a string, which is skipped, or a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi;

/** Returns a number's digits and the position of its decimal point, which are equal for 1.50 and 15e-1. */
function valueOf(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === "" ? "0" : `${sign === "-" ? sign : ""}${significant}e${power}`;
}

/** @param number as in JSON or a number input */
export function isKeptNumber(number: string): boolean {
  const kept = Number(number);
  return Number.isFinite(kept) && valueOf(String(kept)) === valueOf(number);
}

/** Returns whether all numbers of a JSON text are kept. */
export function areNumbersKept(json: string): boolean {
  return (json.match(STRING_OR_NUMBER) ?? []).every((one) => one.startsWith('"') || isKeptNumber(one));
}
