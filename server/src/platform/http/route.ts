// Defines a route as an endpoint of the contract and its handler. Handlers only translate from the endpoint to a function and present its
// result.
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { CallerKind, Endpoint } from "@postloft/contract/endpoint.ts";
import type { Role } from "@postloft/contract/roles.ts";
import type { Tx } from "../database/database.ts";
import type { KeyedRequest } from "./idempotency.ts";

export interface HttpResponse<Status extends number = number, Body = unknown> {
  status: Status;
  /**
   * The response body, wrapped in the endpoint's envelope. `raw` and `page` endpoints use text or bytes, and streams are sent unchanged.
   */
  body: Body;
  /** A list repeats the header, as `set-cookie` needs. */
  headers?: Readonly<Record<string, string | string[]>>;
}

/** The responses that the contract allows for an endpoint, by status. */
export type ResponseOf<E extends Endpoint> = {
  [Status in keyof E["responses"] & number]: HttpResponse<Status, BodyOf<E["responses"][Status]>>;
}[keyof E["responses"] & number];

type BodyOf<Schema extends z.ZodType | null> = Schema extends z.ZodType
  ? Unchanging<z.input<Schema>> | Readable | (z.input<Schema> extends string ? Buffer : never)
  : null;

/** The same type with readonly lists and fields, so that handlers may return readonly values. */
type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Unchanging<Value[Name]> }
    : Value;

export interface Call<E extends Endpoint = Endpoint> {
  params: z.output<E["params"]>;
  query: z.output<E["query"]>;
  body: z.output<E["body"]>;
  /** Paths of body fields that the endpoint doesn't know. Empty if it ignores them. */
  unknownFields: readonly string[];
  /** The raw body, for signature checks. Empty if it is not JSON. */
  rawBody: Buffer;
  /** The size of the raw body, or 0 if it is not JSON. */
  bodyBytes: number;
  /** The project, or null if the endpoint has none. */
  projectId: TenantOf<E["caller"]>;
  /** The signed-in user. Null with a key or an admin token. */
  userId: E["caller"] extends "session" | "member" ? string : string | null;
  sessionId: string | null;
  /** The hash of the API key, or null for a session. */
  keyHash: Buffer | null;
  /** The role in the project, or null if the endpoint has none. */
  role: Role | null;
  /** Came with a public key, which anyone can read: emails that follow from the call are limited. */
  byPublicKey: boolean;
  /** Came with a test key: what it sends stays in the local mailbox. */
  isTest: boolean;
  /** As in the response header `x-request-id`. */
  requestId: string;
  /** The method of the request, which may be HEAD for a GET endpoint. */
  method: string;
  /**
   * The client's address, taken from the proxies in TRUST_PROXY, so a faulty proxy may set any value. Undefined if the connection is
   * already closed.
   */
  ip: string | undefined;
  /** As received, with lower-case names. */
  headers: Readonly<IncomingHttpHeaders>;
  /** The host name of the request, without a port. Proxies in TRUST_PROXY may set it. */
  host: string;
  /** Counts this request as several against the rate limit. @throws AppError RATE_LIMIT_EXCEEDED */
  countAs: (requests: number) => Promise<void>;
  /** Runs the change and stores its response for the Idempotency-Key in one transaction, so that either both are saved or neither. */
  commit: <A extends ResponseOf<E>>(work: (tx: Tx) => Promise<A>) => Promise<A>;
  /** For endpoints that commit many requests together and store their responses with `storeResponses`. Null without an Idempotency-Key. */
  keyed: KeyedRequest | null;
}

type TenantOf<Kind extends CallerKind> = Kind extends "anyone" | "session" | "operator" ? null : string;

export interface Route {
  endpoint: Endpoint;
  handle: (call: Call) => Promise<HttpResponse>;
}

export function route<const E extends Endpoint>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<ResponseOf<E>>,
): Route {
  // The server parses each part with the endpoint's schemas before this call.
  return { endpoint, handle: handle as unknown as Route["handle"] };
}

export function ok<Body>(body: Body): HttpResponse<200, Body> {
  return { status: 200, body };
}

export function created<Body>(body: Body): HttpResponse<201, Body> {
  return { status: 201, body };
}

export function noContent(): HttpResponse<204, null> {
  return { status: 204, body: null };
}
