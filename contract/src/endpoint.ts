// An endpoint is a value: method, path, who may call, what goes in, what comes out. Server, OpenAPI, docs and tests read it.
import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { Role } from "./roles.ts";

/**
 * Who may call:
 * `anyone` without authentication · `tracker` a public or secret key, or a session with a project ·
 * `project` a secret key, or a session with a project · `project-by-path` a session that is a member of the project in the path
 * (`:projectId`), or that project's secret key, which may also write `current` for its own · `member` only a session that is a
 * member of the project in the path · `session` a logged-in person only · `operator` a logged-in person, or the token that was
 * printed at start.
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
 * `bare`: the resource itself. `wrapped`: `{ success: true, data }` (spec §4). `raw`: not JSON.
 * `page`: HTML for a person in a browser; what goes in is a form, urlencoded or multipart, and never JSON.
 */
export type Envelope = "bare" | "wrapped" | "raw" | "page";

/**
 * `json`, or `upload`: multipart/form-data, in which a file is one part; `text-json`: JSON that may also come as text/plain,
 * from senders who say no better. (Pages take forms.)
 */
export type BodyKind = "json" | "upload" | "text-json";

/**
 * Says what happens to fields that the body's schema doesn't know. `ignored`: nothing. `warned`: the route gets their names and answers
 * with them. `refused`: 422 with the closest name, because they could decide who gets an email, when or whether.
 * `refused-unless-returned`: the same, but fields of the answer are ignored, because clients send whole objects back.
 */
export type UnknownFields = "ignored" | "warned" | "refused" | "refused-unless-returned";

const CONTENT_TYPES: Readonly<Record<Envelope, string>> = {
  bare: "application/json",
  wrapped: "application/json",
  raw: "text/plain",
  page: "text/html",
};

/** A request part in which nothing is read. */
const nothing = z.object({});

/** Status → what the answer holds (inside the envelope); null where there is no body. */
export type AnswersByStatus = Readonly<Record<number, z.ZodType | null>>;

export interface Endpoint<
  Kind extends CallerKind = CallerKind,
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answers extends AnswersByStatus = AnswersByStatus,
> {
  /** Unique, `noun.verb`: the operation id in OpenAPI. */
  readonly name: string;
  readonly method: Method;
  /** Parameters as `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly caller: Kind;
  /** What a member has to be at least, where it belongs to a project. */
  readonly leastRole: Role;
  /** Whether it may be called while the project is disabled: what reads, and what closes a door. */
  readonly isOpenWhenDisabled: boolean;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly unknownFields: UnknownFields;
  /** Puts other spellings of fields into ours before anything is checked; null: none are accepted. */
  readonly respell: ((body: unknown) => unknown) | null;
  /** Returns why a field that the schema doesn't know is refused though others are ignored. */
  readonly refusalOfUnknown: ((name: string) => string | null) | null;
  /** Whether a body is read at all. */
  readonly takesBody: boolean;
  /** Whether the body may be left out, since nothing in it is needed. */
  readonly isBodyOptional: boolean;
  /** Whether a call changes nothing: every GET but a few, and questions that are too long for an address. */
  readonly isRead: boolean;
  /** Whether mail leaves by it at once: not for a member whose address has to be proved first. */
  readonly sends: boolean;
  /** Whether the response contains a secret. Only the scope `secrets` opens it, and stored responses are encrypted. */
  readonly isSecret: boolean;
  readonly bodyKind: BodyKind;
  readonly bodyLimitBytes: number | null;
  readonly envelope: Envelope;
  /** Of what succeeds, without parameters such as a charset; `image/*`: any of them. */
  readonly contentType: string;
  /** Status → what the answer holds (inside the envelope); null where there is no body. */
  readonly answers: Answers;
  /** Codes beyond those every endpoint of its caller kind can give. */
  readonly errors: readonly ErrorCode[];
}

export interface EndpointDefinition<
  Kind extends CallerKind,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answers extends AnswersByStatus,
> {
  name: string;
  method: Method;
  path: string;
  summary: string;
  /** What the summary cannot say; shown below it in the documentation. */
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
  bodyKind?: BodyKind;
  bodyLimitBytes?: number;
  isRead?: boolean;
  sends?: boolean;
  isSecret?: boolean;
  envelope?: Envelope;
  /** Where the envelope does not say it: `raw` is text/plain. */
  contentType?: string;
  answers: Answers;
  errors?: readonly ErrorCode[];
}

/** Whether it belongs to a project: whoever calls has a role in it. */
export function isOfProject({ caller }: Endpoint): boolean {
  return caller !== "anyone" && caller !== "session" && caller !== "operator";
}

/** Whether no API key opens it. */
export function isSessionOnly({ caller }: Endpoint): boolean {
  return caller === "member" || caller === "session" || caller === "operator";
}

/** Whether its project stands in the path, as `:projectId`; a foreign one is a 404 like one that does not exist. */
export function namesProjectInPath({ caller }: Endpoint): boolean {
  return caller === "member" || caller === "project-by-path";
}

/** Fills in what an endpoint left out: no parameters, no query, no body, a bare answer. */
export function endpoint<
  Kind extends CallerKind,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof nothing,
  Answers extends AnswersByStatus = AnswersByStatus,
>(
  definition: EndpointDefinition<Kind, Params, Query, Body, Answers>,
): Endpoint<Kind, Params, Query, Body, Answers> {
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
    takesBody: definition.body !== undefined,
    isBodyOptional: definition.method === "POST" && definition.body?.safeParse({}).success === true,
    isRead,
    sends: definition.sends ?? false,
    isSecret: definition.isSecret ?? false,
    bodyKind: definition.bodyKind ?? "json",
    bodyLimitBytes: definition.bodyLimitBytes ?? null,
    envelope: definition.envelope ?? "bare",
    contentType: definition.contentType ?? CONTENT_TYPES[definition.envelope ?? "bare"],
    answers: definition.answers,
    errors: definition.errors ?? [],
  };
}
