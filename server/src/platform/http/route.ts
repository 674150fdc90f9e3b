// A route: an endpoint of the contract and the function that answers it. Routes only translate: endpoint → verb → presented value.
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { CallerKind, Endpoint } from "@postloft/contract/endpoint.ts";
import type { Role } from "@postloft/contract/roles.ts";
import type { Tx } from "../database/database.ts";
import type { Receipt } from "./idempotency.ts";

export interface Answer<Status extends number = number, Body = unknown> {
  status: Status;
  /** Goes into the endpoint's envelope; for `raw` and `page` endpoints text or bytes. A stream goes as it is. */
  body: Body;
  /** A list repeats the header, as `set-cookie` needs. */
  headers?: Readonly<Record<string, string | string[]>>;
}

/** What an endpoint may be answered with: one of its statuses, with what the contract says that it holds. */
export type AnswerOf<E extends Endpoint> = {
  [Status in keyof E["answers"] & number]: Answer<Status, BodyOf<E["answers"][Status]>>;
}[keyof E["answers"] & number];

type BodyOf<Schema extends z.ZodType | null> = Schema extends z.ZodType
  ? Unchanging<z.input<Schema>> | Readable | (z.input<Schema> extends string ? Buffer : never)
  : null;

/** The same, where nothing is written to: lists that may not be written may be answered with, too. */
type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Unchanging<Value[Name]> }
    : Value;

export interface Call<E extends Endpoint = Endpoint> {
  params: z.output<E["params"]>;
  query: z.output<E["query"]>;
  body: z.output<E["body"]>;
  /** Paths of fields in the body that the endpoint doesn't know; empty where it ignores them. */
  unknownFields: readonly string[];
  /** As it came, for whoever checks a signature over it; empty where it is not JSON. */
  rawBody: Buffer;
  /** Of the body as it came; 0 where it is not JSON. */
  bodyBytes: number;
  /** The tenant; null where the endpoint has none. */
  projectId: TenantOf<E["caller"]>;
  /** The logged-in person; null under a key, or the operator's token. */
  userId: E["caller"] extends "session" | "member" ? string : string | null;
  sessionId: string | null;
  /** The hash of the API key; null for a session. */
  keyHash: Buffer | null;
  /** In the project; null where the endpoint has none. */
  role: Role | null;
  /** Came with a public key, which anyone can read: emails that follow from the call are limited. */
  byPublicKey: boolean;
  /** Came with a test key: what it sends stays in the local mailbox. */
  isTest: boolean;
  /** As the answer says it, in `x-request-id`. */
  requestId: string;
  /** As the request says it: a GET is asked for by HEAD, too. */
  method: string;
  /**
   * The address the request came from, behind proxies of TRUST_PROXY as they say it: a faulty one may say anything. Undefined
   * when the connection is gone already.
   */
  ip: string | undefined;
  /** As they were sent, names in lower case. */
  headers: Readonly<IncomingHttpHeaders>;
  /**
   * Runs the change in one transaction and stores its answer for the Idempotency-Key in the same one, if there is a key:
   * effect and receipt are both there or both not.
   */
  commit: <A extends AnswerOf<E>>(work: (tx: Tx) => Promise<A>) => Promise<A>;
  /** For doors that commit many requests at once: they store it themselves with `storeReceipts`. */
  receipt: Receipt | null;
}

type TenantOf<Kind extends CallerKind> = Kind extends "anyone" | "session" | "operator" ? null : string;

export interface Route {
  endpoint: Endpoint;
  handle: (call: Call) => Promise<Answer>;
}

export function route<const E extends Endpoint>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<AnswerOf<E>>,
): Route {
  // The server parses each part with the endpoint's own schemas before it calls.
  return { endpoint, handle: handle as unknown as Route["handle"] };
}

export function ok<Body>(body: Body): Answer<200, Body> {
  return { status: 200, body };
}

export function created<Body>(body: Body): Answer<201, Body> {
  return { status: 201, body };
}

export function noContent(): Answer<204, null> {
  return { status: 204, body: null };
}
