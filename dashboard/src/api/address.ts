// Defines the typed address of an API endpoint. Only the contract's types are imported, so that none of its code is bundled.
import type { CallerKind, Endpoint, Method, ResponsesByStatus } from "@postloft/contract/endpoint.ts";
import type { z } from "zod";

/** The path parameter that names the project. */
export const PROJECT_PARAMETER = ":projectId";

/** An endpoint of the contract. The type parameter carries its input and response types. */
export interface Address<E extends Endpoint> {
  readonly method: Method;
  readonly path: string;
  readonly envelope: "bare" | "wrapped" | "raw";
  /** Never set. Carries the type parameter. */
  readonly endpoint?: E;
}

/** Any address. */
export type AnyAddress = Address<Endpoint>;

type Good<Responses extends ResponsesByStatus> = Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>];

/** The response body of a successful call. */
export type ResponseOf<E extends Endpoint> =
  Good<E["responses"]> extends infer Schema ? (Schema extends z.ZodType ? z.output<Schema> : null) : never;

/** The response body of a successful call, by address: `ApiResponse<typeof api.contacts.get>`. */
export type ApiResponse<A> = A extends Address<infer E> ? ResponseOf<E> : never;

/** An optional property if everything in it is optional. */
type Part<Name extends string, Value> = {} extends Value
  ? { [Key in Name]?: Value }
  : { [Key in Name]: Value };

/** The project, in the path or as X-Project-Id. */
type ProjectPart<Kind extends CallerKind> = Kind extends "anyone" | "session" | "operator"
  ? { projectId?: never }
  : { projectId: string };

type InputWithoutBody<E extends Endpoint> = ProjectPart<E["caller"]> &
  Part<"params", Omit<z.input<E["params"]>, "projectId">> &
  Part<"query", z.input<E["query"]>>;

/** The input of a call. The path's `:projectId` is `projectId`, not a part of `params`. */
export type Input<E extends Endpoint> = InputWithoutBody<E> & Part<"body", z.input<E["body"]>>;

/** The input of an upload or a download. */
export type FileInput<E extends Endpoint> = InputWithoutBody<E> & Abort;

interface Abort {
  signal?: AbortSignal;
}

/** The input, which may be omitted if everything in it is optional. */
export type CallArguments<E extends Endpoint> =
  {} extends Input<E> ? [input?: Input<E> & Abort] : [input: Input<E> & Abort];

/** An input without the types of its endpoint. */
export interface AnyInput extends Abort {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  projectId?: string;
}

/** Builds an address. endpoints.ts, which is generated, has one for each endpoint. */
export function address<E extends Endpoint>(
  method: Method,
  path: string,
  envelope: Address<E>["envelope"] = "bare",
): Address<E> {
  return { method, path, envelope };
}
