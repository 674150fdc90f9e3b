// A whole HTTP request as bytes, with places for numbers, so that making the next one costs next to nothing.

/** In a body: a number that comes again after `ADDRESSES` requests. */
export const ADDRESS_NUMBER = "#ADDRESS#";
/** In a body: a number that no other request of the run has. */
export const UNIQUE_NUMBER = "##UNIQUE#";
/** Both stand for so many digits. */
export const NUMBER_DIGITS = 9;
/** How many different addresses are used. */
export const ADDRESSES = 100_000;

export interface RequestTemplate {
  bytes: Uint8Array;
  /** Where in `bytes` the first digit of each number stands, and what the number of the request is taken modulo. */
  numbers: ReadonlyArray<{ at: number; modulus: number }>;
}

/** A POST of `body` as JSON under an API key, for a connection that stays open. */
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
