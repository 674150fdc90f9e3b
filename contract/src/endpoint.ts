// Describes an endpoint as a value with its method, path, callers, input and output. Server, OpenAPI, docs and tests read it.
import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { Role } from "./roles.ts";

/**
 * The allowed callers.
 * - `anyone`: no authentication
 * - `tracker`: a public or secret key, or a session with a project
 * - `project`: a secret key, or a session with a project
 * - `project-by-path`: a session of a member of the project in the path (`:projectId`), or the project's secret key, which may also write
 * `current`
 * - `member`: only a session of a member of the project in the path
 * - `session`: only a signed-in user
 * - `operator`: a signed-in user, or the token printed at start
 */
export type CallerKind =
  | "anyone"
  | "tracker"
  | "project"
  | "project-by-path"
  | "member"
  | "session"
  | "operator";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * `bare`: the resource itself. `wrapped`: `{ success: true, data }` (spec §4). `raw`: not JSON. `page`: HTML for a person in a browser; its
 * input is an urlencoded or multipart form, never JSON.
 */
export type Envelope = "bare" | "wrapped" | "raw" | "page";

/**
 * `upload` is multipart/form-data with the file as one part. `text-json` is JSON that may also arrive as text/plain, from senders that
 * cannot do better. Pages take forms.
 */
export type BodyKind = "json" | "upload" | "text-json";

/**
 * Handling of fields that the body's schema does not know.
 * - `ignored`: no effect
 * - `warned`: the route gets their names and returns them
 * - `refused`: 422 with the closest name, because they could decide whether, when or to which contacts an email is sent
 * - `refused-unless-returned`: the same, but fields of the response are ignored, because clients send whole objects back
 */
export type UnknownFields = "ignored" | "warned" | "refused" | "refused-unless-returned";

const CONTENT_TYPES: Readonly<Record<Envelope, string>> = {
  bare: "application/json",
  wrapped: "application/json",
  raw: "text/plain",
  page: "text/html",
};

/** A request part that is not read. */
const nothing = z.object({});

/** Maps the status to the response schema (inside the envelope); null for a response without a body. */
export type ResponsesByStatus = Readonly<Record<number, z.ZodType | null>>;

export interface Endpoint<
  Kind extends CallerKind = CallerKind,
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Responses extends ResponsesByStatus = ResponsesByStatus,
  Wrapping extends Envelope = Envelope,
> {
  /** Unique, `noun.verb`: the operation id in OpenAPI. */
  readonly name: string;
  readonly method: Method;
  /** Parameters as `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly caller: Kind;
  /** The minimum role of a member, if the endpoint belongs to a project. */
  readonly leastRole: Role;
  /** Whether it may be called while the project is disabled. True for reads, and for actions that revoke access. */
  readonly isOpenWhenDisabled: boolean;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly unknownFields: UnknownFields;
  /** Converts other spellings of fields to ours before validation; null if none are accepted. */
  readonly respell: ((body: unknown) => unknown) | null;
  /** Returns why an unknown field is rejected although others are ignored. */
  readonly refusalOfUnknown: ((name: string) => string | null) | null;
  /**
   * The list whose items the route reads as bodies of another endpoint, so that an invalid item fails alone. Null for most endpoints.
   */
  readonly batchOf: string | null;
  /** Whether a body is read. */
  readonly takesBody: boolean;
  /** Whether the body may be omitted because all its fields are optional. */
  readonly isBodyOptional: boolean;
  /** Whether a call changes nothing. True for nearly every GET, and for queries too long for a URL. */
  readonly isRead: boolean;
  /** Whether the call sends email immediately. Members must confirm their own address first. */
  readonly sends: boolean;
  /** Whether the response contains a secret. Only the scope `secrets` allows such a call, and stored responses are encrypted. */
  readonly isSecret: boolean;
  readonly bodyKind: BodyKind;
  readonly bodyLimitBytes: number | null;
  readonly envelope: Wrapping;
  /** The content type of success responses, without parameters such as a charset. `image/*` means any image type. */
  readonly contentType: string;
  /** Maps the status to the response schema (inside the envelope); null for a response without a body. */
  readonly responses: Responses;
  /** Codes in addition to those of every endpoint with this kind of caller. */
  readonly errors: readonly ErrorCode[];
}

export interface EndpointDefinition<
  Kind extends CallerKind,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Responses extends ResponsesByStatus,
  Wrapping extends Envelope,
> {
  name: string;
  method: Method;
  path: string;
  summary: string;
  /** Details beyond the summary; shown below it in the documentation. */
  description: string;
  caller: Kind;
  leastRole?: Role;
  isOpenWhenDisabled?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Default: `ignored`. */
  unknownFields?: UnknownFields;
  respell?: (body: unknown) => unknown;
  refusalOfUnknown?: (name: string) => string | null;
  batchOf?: string;
  bodyKind?: BodyKind;
  bodyLimitBytes?: number;
  isRead?: boolean;
  sends?: boolean;
  isSecret?: boolean;
  envelope?: Wrapping;
  /** Overrides the type of the envelope, because `raw` means text/plain. */
  contentType?: string;
  responses: Responses;
  errors?: readonly ErrorCode[];
}

/** Returns whether the endpoint belongs to a project, so that the caller has a role in it. */
export function isOfProject({ caller }: Endpoint): boolean {
  return caller !== "anyone" && caller !== "session" && caller !== "operator";
}

/** Returns whether API keys are never accepted. */
export function isSessionOnly({ caller }: Endpoint): boolean {
  return caller === "member" || caller === "session" || caller === "operator";
}

/** Returns whether the path contains the project as `:projectId`. A foreign project returns 404, like one that does not exist. */
export function namesProjectInPath({ caller }: Endpoint): boolean {
  return caller === "member" || caller === "project-by-path";
}

/** Fills in the defaults of an endpoint: no parameters, no query, no body, a bare response. */
export function endpoint<
  Kind extends CallerKind,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof nothing,
  Responses extends ResponsesByStatus = ResponsesByStatus,
  Wrapping extends Envelope = "bare",
>(
  definition: EndpointDefinition<Kind, Params, Query, Body, Responses, Wrapping>,
): Endpoint<Kind, Params, Query, Body, Responses, Wrapping> {
  const isRead = definition.isRead ?? definition.method === "GET";
  return {
    name: definition.name,
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    description: definition.description,
    caller: definition.caller,
    leastRole: definition.leastRole ?? "MEMBER",
    isOpenWhenDisabled: definition.isOpenWhenDisabled ?? isRead,
    params: definition.params ?? (nothing as z.ZodType as Params),
    query: definition.query ?? (nothing as z.ZodType as Query),
    body: definition.body ?? (nothing as z.ZodType as Body),
    unknownFields: definition.unknownFields ?? "ignored",
    respell: definition.respell ?? null,
    refusalOfUnknown: definition.refusalOfUnknown ?? null,
    batchOf: definition.batchOf ?? null,
    takesBody: definition.body !== undefined,
    isBodyOptional: definition.method === "POST" && definition.body?.safeParse({}).success === true,
    isRead,
    sends: definition.sends ?? false,
    isSecret: definition.isSecret ?? false,
    bodyKind: definition.bodyKind ?? "json",
    bodyLimitBytes: definition.bodyLimitBytes ?? null,
    envelope: definition.envelope ?? ("bare" as Wrapping),
    contentType: definition.contentType ?? CONTENT_TYPES[definition.envelope ?? "bare"],
    responses: definition.responses,
    errors: definition.errors ?? [],
  };
}
