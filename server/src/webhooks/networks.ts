// Decides which addresses and ports webhooks may call, which are the public internet and what the instance admin allows. Pure.
import { isIP } from "node:net";
import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";

/** An address and its prefix length in bits. */
export type Network = readonly [IPv4 | IPv6, number];

/** First and last port of a range. */
export type PortRange = readonly [first: number, last: number];

/** The targets that the instance admin allows in addition to the public internet and its usual ports. */
export interface CallTargets {
  networks: readonly Network[];
  ports: readonly PortRange[];
}

export const NO_TARGETS: CallTargets = { networks: [], ports: [] };
/** Ports of HTTP. On other ports a server of another protocol might accept a request as its own. */
const USUAL_PORTS: readonly PortRange[] = [
  [80, 80],
  [443, 443],
  [8000, 8999],
];

/** Returns whether a webhook may use a port. */
export function isPortAllowed(port: number, allowed: readonly PortRange[]): boolean {
  return [...USUAL_PORTS, ...allowed].some(([first, last]) => port >= first && port <= last);
}

/** Addresses that translate to IPv4 in IPv6-only networks (RFC 6052 §2.1). */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96") as [IPv6, number];
/** The IPv6 range of the public internet (RFC 4291 §2.4), without deprecated and reserved ranges. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3") as [IPv6, number];
/** The platform service of Azure. The address looks public but is as sensitive as 169.254.169.254. */
const AZURE_PLATFORM = "168.63.129.16";

/** Parses the validated setting WEBHOOK_ALLOW_PRIVATE, with entries such as `10.0.0.0/8` or a single address. */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/**
 * Returns whether a webhook may call an address (IPv4 or IPv6, as text). IPv4 within IPv6 is treated as the IPv4 address.
 * Rejects everything that is not clearly public: private, loopback, link-local (cloud metadata services), shared (RFC 6598), multicast,
 * broadcast, documentation, benchmarks, tunnels (6to4, Teredo) and reserved ranges.
 */
export function mayCall(address: string, allowed: readonly Network[]): boolean {
  // Stricter than the library, which also accepts abbreviated addresses.
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

/** Returns the IPv4 address to which packets for an IPv6 address are routed, or the address itself. */
function meantBy(address: IPv4 | IPv6): IPv4 | IPv6 {
  if (!isIPv6(address)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return isWithin(address, NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}

function isIPv6(address: IPv4 | IPv6): address is IPv6 {
  return address.kind() === "ipv6";
}
