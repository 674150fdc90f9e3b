// Resolves the host of an outgoing connection once and checks every address, so that users cannot reach the network of the instance.
import { isIP } from "node:net";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Dns } from "../platform/dns.ts";
import { mayCall, type Network } from "./networks.ts";

/** An error with a message for the user. */
export class AddressError extends Error {}

/**
 * Returns the addresses of a host, to which the connection must then go. Rejects the host if any address is forbidden, because a mixture
 * suggests a probe for the one that is used.
 * @throws AddressError
 */
export async function findAddresses(
  host: string,
  { dns, networks }: { dns: Pick<Dns, "records">; networks: readonly Network[] },
): Promise<string[]> {
  const addresses = isIP(host) === 0 ? await resolve(host, dns) : [host];
  // The message omits the address, which would reveal the instance's network to the user.
  if (!addresses.every((address) => mayCall(address, networks)))
    throw new AddressError(
      isIP(host) === 0
        ? recordedReason("resolvesToPrivate", { host })
        : recordedReason("privateAddress", { host }),
    );
  return addresses;
}

async function resolve(host: string, dns: Pick<Dns, "records">): Promise<string[]> {
  const responses = await Promise.all([dns.records(host, "A"), dns.records(host, "AAAA")]);
  const addresses = responses.flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  if (addresses.length > 0) return addresses;
  throw new AddressError(
    responses.some(({ kind }) => kind === "unanswered")
      ? recordedReason("noDnsResponse", { host })
      : recordedReason("noDnsAddress", { host }),
  );
}
