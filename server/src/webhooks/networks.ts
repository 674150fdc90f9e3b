// Decides which addresses and ports webhooks may call: the public internet, and what the operator allows. Pure.
import { isIP } from "node:net";
import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";

/** An address and how many of its bits count. */
export type Network = readonly [IPv4 | IPv6, number];

/** The first and the last port of a range. */
export type PortRange = readonly [first: number, last: number];

/** What the operator allows beside the public internet and its usual ports. */
export interface CallTargets {
  networks: readonly Network[];
  ports: readonly PortRange[];
}

export const NO_TARGETS: CallTargets = { networks: [], ports: [] };
/** Ports of HTTP; at others a server of another protocol might take a request for its own. */
const USUAL_PORTS: readonly PortRange[] = [
  [80, 80],
  [443, 443],
  [8000, 8999],
];

/** Returns whether a webhook may name a port. */
export function isPortAllowed(port: number, allowed: readonly PortRange[]): boolean {
  return [...USUAL_PORTS, ...allowed].some(([first, last]) => port >= first && port <= last);
}

/** Translates addresses of IPv4 for networks that have only IPv6 (RFC 6052 §2.1). */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96") as [IPv6, number];
/** All of IPv6 that is given out for the public internet (RFC 4291 §2.4); what is deprecated or reserved lies outside. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3") as [IPv6, number];
/** Answers for the platform on machines of Azure: public by its number, and as good as 169.254.169.254. */
const AZURE_PLATFORM = "168.63.129.16";

/** Of the setting WEBHOOK_ALLOW_PRIVATE, which is checked already: `10.0.0.0/8`, or an address for itself alone. */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/**
 * Whether a webhook may go to an address (IPv4 or IPv6, as text). An address of IPv4 within IPv6 counts as what it stands
 * for. Everything that is not plainly public is refused: private, loopback, link-local (the metadata services of clouds),
 * shared (RFC 6598), multicast, broadcast, documentation, benchmarks, tunnels (6to4, Teredo) and what is reserved.
 */
export function mayCall(address: string, allowed: readonly Network[]): boolean {
  // Stricter than the library, which also reads what is left out of an address.
  if (isIP(address) === 0) return false;
  const meant = meantBy(ipaddr.parse(address));
  return allowed.some((network) => isWithin(meant, network)) || isPublic(meant);
}

function isPublic(address: IPv4 | IPv6): boolean {
  if (address.range() !== "unicast") return false;
  return isIPv6(address) ? isWithin(address, GLOBAL_IPV6) : address.toString() !== AZURE_PLATFORM;
}

function isWithin(address: IPv4 | IPv6, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** The address of IPv4 inside one of IPv6, where packets go to that one. */
function meantBy(address: IPv4 | IPv6): IPv4 | IPv6 {
  if (!isIPv6(address)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return isWithin(address, NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}

function isIPv6(address: IPv4 | IPv6): address is IPv6 {
  return address.kind() === "ipv6";
}
