// Maps an address to the network that is counted, because a customer with IPv6 has at least 2^64 addresses. Pure.
import { isIPv6 } from "node:net";

const GROUPS = 8;
const NETWORK_GROUPS = 4;
const IPV4_IN_IPV6 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** Returns an IPv4 address unchanged, the /64 of an IPv6 address, or "unknown" if the connection is gone. */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return "unknown";
  const plain = IPV4_IN_IPV6.exec(address)?.[1] ?? address;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail = ""] = (plain.split("%")[0] ?? "").split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, GROUPS - first.length - last.length)).fill("0");
  const groups = [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
