// The only two requests we make to Amazon SNS: fetch a certificate and confirm a subscription. Limited in time and size, no redirects.
import { request } from "node:https";

/** A response with an unexpected status. */
export class UnexpectedStatus extends Error {
  readonly status: number;
  constructor(host: string, status: number) {
    super(`${host} answered ${status}`);
    this.status = status;
  }
}

/**
 * Returns the body of a 200 response.
 * @throws UnexpectedStatus for another status; Error if there is no response or it is too large
 */
export type FetchText = (url: string) => Promise<string>;

export interface SnsRequestOptions {
  /** From the first packet to the last. */
  timeoutMs?: number;
  maxBytes?: number;
  /** For tests: another host to connect to and its CA. Names are still verified. */
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
            return void sending.destroy(new UnexpectedStatus(url.host, response.statusCode ?? 0));
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
