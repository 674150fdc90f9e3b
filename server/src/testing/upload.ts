// Uploads files in tests as a browser or curl does, and waits for the resulting jobs.
import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { inputSchema } from "@postloft/contract/openapi/schemas.ts";
import type { Call, Reply, TestCaller } from "./test-server.ts";

interface UploadOptions {
  part?: string;
  filename?: string;
  /** Additional text parts by name. */
  texts?: Readonly<Record<string, string>>;
}

/** Returns a file as multipart/form-data with a random boundary. */
export function uploadOf(
  content: string | Buffer,
  { part = "file", filename = "contacts.csv", texts = {} }: UploadOptions = {},
) {
  const boundary = randomUUID();
  const others = Object.entries(texts).map(
    ([name, text]) => `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}`,
  );
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${filename}"\r\nContent-Type: text/csv\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(head),
      Buffer.from(content),
      Buffer.from(`${others.join("")}\r\n--${boundary}--\r\n`),
    ]),
  };
}

/** One pixel as the smallest GIF. Bytes after its end are not part of the image but make it a different upload. */
export const ONE_PIXEL = Buffer.from(
  "R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==",
  "base64",
);

/** Returns a file that the endpoint accepts, in the right part. */
export function uploadFor({ body }: Pick<Endpoint, "body">) {
  const [part = ""] = Object.keys(inputSchema(body).properties ?? {});
  return uploadOf(part === "image" ? ONE_PIXEL : "email\nada@example.com\n", { part });
}

/** Uploads a file to `POST /contacts/import`. */
export function uploadCsv<Body = { jobId: string; message: string }>(
  call: Call,
  caller: TestCaller,
  content: string | Buffer,
  query = "",
  mapping?: unknown,
): Promise<Reply<Body>> {
  const texts = mapping === undefined ? {} : { mapping: JSON.stringify(mapping) };
  const { contentType, body } = uploadOf(content, { texts });
  const headers = { ...caller.headers, "content-type": contentType };
  return call<Body>("POST", `/contacts/import${query}`, { ...caller, headers }, body);
}

export interface ImportJob {
  id: string;
  state: string;
  progress: number;
  failedReason: string | null;
  result: { [Key in keyof ImportResult]-?: NonNullable<ImportResult[Key]> };
}

const WAIT = { timeout: 50_000, interval: 20 };

/** Returns the import when it has ended. */
export async function endOfImport(call: Call, caller: TestCaller, jobId: string): Promise<ImportJob> {
  return vi.waitFor(async () => {
    const { body } = await call<ImportJob>("GET", `/contacts/import/${jobId}`, caller);
    if (body.state !== "completed" && body.state !== "failed") throw new Error(`It is ${body.state}.`);
    return body;
  }, WAIT);
}
