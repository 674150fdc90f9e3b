// Derives queries and their keys from endpoints, so that changed data is refetched without keys written by hand.
import { queryOptions } from "@tanstack/react-query";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { Address, AnyInput, CallArguments, Input } from "./address.ts";
import { call } from "./call.ts";
import { endpointKey } from "./query-key.ts";

/** The input and versions of a query. The input may be omitted if everything in it is optional. */
type QueryArguments<E extends Endpoint> =
  {} extends Input<E>
    ? [input?: Input<E>, ...versions: unknown[]]
    : [input: Input<E>, ...versions: unknown[]];

/**
 * Returns the query that reads an endpoint.
 * @param versions values that change with the response, so that a change refetches it
 */
export function query<E extends Endpoint>(address: Address<E>, ...[input, ...versions]: QueryArguments<E>) {
  const given: AnyInput = input ?? {};
  return queryOptions({
    queryKey: [...endpointKey(address, given), ...versions],
    queryFn: ({ signal }) => call(address, ...([{ ...given, signal }] as CallArguments<E>)),
  });
}
