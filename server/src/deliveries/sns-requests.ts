// The only two requests we make to Amazon SNS: for a certificate, and to confirm a subscription. Bounded in time and size, no redirects.
import { request } from "node:https";

/** An answer, but not the one that was hoped for. */
export class OtherAnswer extends Error {
  readonly status: number;
  constructor(host: string, status: number) {
    super(`${host} answered ${status}`);
    this.status = status;
  }
}

/** The body of a 200 answer. @throws OtherAnswer for another one; Error when there is none, or too much. */
export type FetchText = (url: string) => Promise<string>;

export interface SnsRequestOptions {
  /** From the first packet to the last. */
  timeoutMs?: number;
  maxBytes?: number;
  /** For tests: where to connect instead, and whom to trust. Names are checked all the same. */
  instead?: { host: string; port: number; ca: string };
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 32 * 1024;

export function createSnsRequests(options: SnsRequestOptions = {}): FetchText {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, instead } = options;
  return async (text) => {
    const url = new URL(text);
    const way =
      instead === undefined
        ? {}
        : { hostname: instead.host, port: instead.port, servername: url.hostname, ca: instead.ca };
    return new Promise<string>((resolve, reject) => {
      const sending = request(
        url,
        { ...way, headers: { host: url.host }, agent: false, signal: AbortSignal.timeout(timeoutMs) },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on("error", reject);
          if (response.statusCode !== 200)
            return void sending.destroy(new OtherAnswer(url.host, response.statusCode ?? 0));
          response.on("data", (chunk: Buffer) => {
            size += chunk.length;
            if (size > maxBytes)
              sending.destroy(new Error(`${url.host} answered more than ${maxBytes} bytes`));
            else chunks.push(chunk);
          });
          response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
        },
      );
      sending.on("error", reject);
      sending.end();
    });
  };
}
