// Calls the API.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { errorSchema } from "@postloft/contract/errors.ts";
import type { z } from "zod";
import { translateParts } from "../text/say-all.ts";
import { LANGUAGE, translateMessage, t } from "../text/t.ts";
import { saveFile } from "../ui/save-file.ts";
import {
  PROJECT_PARAMETER,
  type Address,
  type AnyAddress,
  type AnyInput,
  type CallArguments,
  type FileInput,
  type ResponseOf,
} from "./address.ts";
import { renewal } from "./renewal.ts";
import { TEMPLATE_FAULTS } from "./template-fault-text.ts";

const NO_CONTENT = 204;
const TIMEOUT_MS = 30_000;
/** Timeout for uploads and downloads, which vary in size. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;

export interface FieldProblem {
  field: string;
  message: string;
  /** Set for template errors. `message` excludes the position. */
  fault?: { line: number; message: string };
}

/** A failed call with the server's error. `status` is 0 if the server could not be reached. */
export class CallError extends Error {
  override name = "CallError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly suggestion: string | null;
  readonly fields: readonly FieldProblem[];

  constructor(message: string, said: Partial<Omit<CallError, "message">> = {}) {
    super(message);
    this.status = said.status ?? 0;
    this.code = said.code ?? "UNREACHABLE";
    this.requestId = said.requestId ?? null;
    this.suggestion = said.suggestion ?? null;
    this.fields = said.fields ?? [];
  }
}

/** Returns whether the call needs a session or a more recent one. A wrong password or code is also a 401, but does not count. */
export function isAboutSession(error: unknown): boolean {
  return (
    error instanceof CallError &&
    (error.code === "SESSION_TOO_OLD" ||
      (error.status === 401 &&
        error.code !== "INVALID_CREDENTIALS" &&
        error.code !== "SECOND_FACTOR_REQUIRED"))
  );
}

/** Returns whether the resource was changed elsewhere after it was loaded here. */
export function isChangedMeanwhile(error: unknown): boolean {
  return error instanceof CallError && error.code === "CHANGED_MEANWHILE";
}

/** Returns the first field error's message, for calls with a single input. */
export function problemOf(error: unknown): string | undefined {
  return error instanceof CallError ? error.fields[0]?.message : undefined;
}

/** Returns the error for a field or for anything nested in it. */
export function problemWith(error: unknown, name: string): string | undefined {
  const fields = error instanceof CallError ? error.fields : [];
  return fields.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message;
}

/**
 * Returns the errors of fields without an input on this page.
 * @param atInputs fields with an input; a trailing dot matches nested fields only
 */
export function errorsWithoutInput(error: unknown, atInputs: readonly string[]): readonly FieldProblem[] {
  const fields = error instanceof CallError ? error.fields : [];
  return fields.filter(
    ({ field }) =>
      !atInputs.some((name) => field === name || field.startsWith(name.endsWith(".") ? name : `${name}.`)),
  );
}

/**
 * Calls an endpoint.
 * @throws CallError on every failure, including a lost network
 */
export async function call<E extends Endpoint>(
  address: Address<E>,
  ...[input]: CallArguments<E>
): Promise<ResponseOf<E>> {
  const given: AnyInput = input ?? {};
  const hasBody = given.body !== undefined;
  const response = await request(address, given, {
    headers: hasBody ? { "content-type": "application/json" } : {},
    body: hasBody ? JSON.stringify(given.body) : null,
  });
  return responseOf(address, response, given.signal);
}

/** Uploads a file as the form part `part`, with `fields` as further parts. */
export async function upload<E extends Endpoint>(
  address: Address<E>,
  given: FileInput<E>,
  file: File,
  { part = "file", fields = {} }: { part?: string; fields?: Readonly<Record<string, string>> } = {},
): Promise<ResponseOf<E>> {
  const body = new FormData();
  body.set(part, file);
  for (const [name, text] of Object.entries(fields)) body.set(name, text);
  const response = await request(address, given, { headers: {}, body }, UPLOAD_TIMEOUT_MS);
  return responseOf(address, response, given.signal);
}

/**
 * Downloads a response (CSV or JSON) as a file.
 * @throws CallError as `call` does, also if the response does not come from the server
 */
export async function download<E extends Endpoint>(
  address: Address<E>,
  given: FileInput<E>,
  fileName: string,
): Promise<void> {
  saveFile(await readFile(address, given), fileName);
}

/**
 * Reads the CSV or JSON file, or the attachment, that an endpoint returns.
 * @throws CallError as `call` does, also if the response does not come from the server
 */
export async function readFile<E extends Endpoint>(address: Address<E>, given: FileInput<E>): Promise<Blob> {
  const response = await request(address, given, { headers: {}, body: null }, UPLOAD_TIMEOUT_MS);
  const type = address.envelope === "raw" ? /^(text\/csv|application\/octet-stream)/ : /^application\/json/;
  if (!type.test(response.headers.get("content-type") ?? "")) throw errorOf(response, null);
  return reached(response.blob(), given.signal);
}

interface Sent {
  headers: Record<string, string>;
  body: string | FormData | null;
}

/**
 * Sends a request and retries it once if the session ended and was renewed.
 * @throws CallError for every unsuccessful response
 */
async function request(
  address: AnyAddress,
  given: AnyInput,
  sent: Sent,
  timeoutMs = TIMEOUT_MS,
): Promise<Response> {
  try {
    return await tryOnce(address, given, sent, timeoutMs);
  } catch (error) {
    if (!isAboutSession(error) || !(await renewal.isDone(given.signal))) throw error;
    return await tryOnce(address, given, sent, timeoutMs);
  }
}

async function tryOnce(
  address: AnyAddress,
  given: AnyInput,
  { headers, body }: Sent,
  timeoutMs: number,
): Promise<Response> {
  const isNamedInPath = address.path.includes(PROJECT_PARAMETER);
  const asked = fetch(urlOf(address.path, given), {
    method: address.method,
    headers: {
      // The server writes emails for a new account in this language.
      "accept-language": LANGUAGE,
      ...headers,
      ...(given.projectId === undefined || isNamedInPath ? {} : { "x-project-id": given.projectId }),
    },
    body,
    // Deletions must complete even if the user leaves the page immediately.
    keepalive: address.method === "DELETE",
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(given.signal ? [given.signal] : [])]),
  });
  const response = await reached(asked, given.signal);
  if (!response.ok) throw errorOf(response, parse(await reached(response.text(), given.signal)));
  return response;
}

/** @throws CallError if the network fails, even within a response; rethrows the original error if the caller aborted */
async function reached<T>(coming: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return coming.catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new CallError(t("We can't reach the server. Check your connection and try again."));
  });
}

/** @throws CallError if the response is not the server's, because proxies and captive portals answer 200 with their own page */
async function responseOf<E extends Endpoint>(
  address: Address<E>,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<ResponseOf<E>> {
  const text = await reached(response.text(), signal);
  const body = parse(text);
  if (body === undefined || (text === "" && response.status !== NO_CONTENT)) throw errorOf(response, body);
  // The contract tests check that the server's responses match these types.
  return (address.envelope === "wrapped" ? (body as { data: unknown }).data : body) as ResponseOf<E>;
}

function urlOf(path: string, { params, query, projectId }: AnyInput): URL {
  const values: Readonly<Record<string, unknown>> = { ...(params as object | undefined), projectId };
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent(String(values[name] ?? "")),
  );
  const url = new URL(filled, location.origin);
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/** Returns undefined for invalid JSON. */
function parse(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(response: Response, body: unknown): CallError {
  const error = (body as { error?: ServerError } | null)?.error;
  if (typeof error?.message !== "string")
    return new CallError(
      t("Unexpected response from the server ({status}). Try again.", { status: String(response.status) }),
      {
        status: response.status,
        code: "UNKNOWN",
        requestId: response.headers.get("x-request-id"),
      },
    );
  const { message, translation, suggestion, errors } = error;
  return new CallError(translateMessage({ message, translation }), {
    status: response.status,
    code: String(error.code),
    requestId: String(error.requestId),
    suggestion: typeof suggestion === "string" ? translateMessage({ message: suggestion }) : null,
    fields: Array.isArray(errors) ? errors.map(fieldProblem) : [],
  });
}

/** The error of the contract, as far as it can be trusted, because a proxy may have answered. */
type ServerError = Partial<z.output<typeof errorSchema>["error"]>;
type FieldError = NonNullable<ServerError["errors"]>[number];

/** Translates field errors that have a code or a sentence in the catalogues. */
function fieldProblem({ field, messageParts = [], ...said }: FieldError): FieldProblem {
  const [place, ...rest] = messageParts;
  if (place === undefined) return { field, message: translateMessage(said) };
  return {
    field,
    message: translateParts(TEMPLATE_FAULTS, messageParts),
    fault: { line: Number(place.values["line"]), message: translateParts(TEMPLATE_FAULTS, rest) },
  };
}
