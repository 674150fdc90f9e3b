// Derives the address, the input and the response of a test's request from an endpoint of the contract.
import type { Endpoint, ResponsesByStatus } from "@postloft/contract/endpoint.ts";
import type { z } from "zod";

type Success<Responses extends ResponsesByStatus> = Responses[Extract<
  keyof Responses,
  200 | 201 | 202 | 204
>];

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The parsed body of a successful response; undefined for endpoints that don't return JSON. */
export type ResponseOf<Called extends Endpoint> = Called["envelope"] extends "bare"
  ? Output<Success<Called["responses"]>>
  : Called["envelope"] extends "wrapped"
    ? { success: true; data: Output<Success<Called["responses"]>> }
    : undefined;

/** A value of a query string, which may be written as a number or a boolean. */
type QueryValue<Value> =
  | Value
  | (string extends Value ? number : never)
  | ("true" extends Value ? boolean : never);

export type BodyOf<Called extends Endpoint> = z.input<Called["body"]>;

export interface InputOf<Called extends Endpoint> {
  params?: z.input<Called["params"]>;
  query?: { [Name in keyof z.input<Called["query"]>]: QueryValue<z.input<Called["query"]>[Name]> };
  body?: BodyOf<Called>;
  /** Replaces `query` by a query string with its question mark, which the contract may reject. */
  anyQuery?: string;
  /** Replaces `body` by a value that the contract may reject. */
  anyBody?: unknown;
}

/** Returns the path with its parameters and the query. @throws Error if a parameter is missing */
export function addressOf<Called extends Endpoint>({ path }: Called, input: InputOf<Called>): string {
  const params = (input.params ?? {}) as Record<string, string>;
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The call of ${path} lacks the parameter ${name}.`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  return `${filled}${query.size === 0 ? "" : `?${query}`}${input.anyQuery ?? ""}`;
}
