// Prepares an HTTP request as bytes with places for numbers, so that creating the next request costs almost nothing.

/** Placeholder in a body for a number that repeats after `ADDRESSES` requests. */
export const ADDRESS_NUMBER = "#ADDRESS#";
/** Placeholder in a body for a number that is unique within the run. */
export const UNIQUE_NUMBER = "##UNIQUE#";
/** Length of both placeholders. */
export const NUMBER_DIGITS = 9;
export const ADDRESSES = 100_000;

export interface RequestTemplate {
  bytes: Uint8Array;
  /** The position of each number in `bytes`, and the modulus applied to the request's number. */
  numbers: ReadonlyArray<{ at: number; modulus: number }>;
}

/** Returns a keep-alive POST of `body` as JSON with an API key. */
export function makeRequest(path: string, key: string, body: object): RequestTemplate {
  const json = Buffer.from(JSON.stringify(body));
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${json.length}`,
  ];
  const bytes = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), json]);
  return {
    bytes,
    numbers: [
      ...placesOf(bytes, ADDRESS_NUMBER).map((at) => ({ at, modulus: ADDRESSES })),
      ...placesOf(bytes, UNIQUE_NUMBER).map((at) => ({ at, modulus: 10 ** NUMBER_DIGITS })),
    ],
  };
}

function placesOf(bytes: Buffer, mark: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) places.push(at);
  return places;
}
