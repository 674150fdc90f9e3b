// Checks whether an address is in one of several networks. Pure.
import { BlockList, isIP } from "node:net";

const IPV4_IN_IPV6 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/**
 * Returns whether the address is in one of the `networks`, which are addresses or CIDR ranges. An IPv4 address mapped to IPv6 counts as
 * IPv4.
 */
export function isWithinNetworks(address: string | undefined, networks: readonly string[]): boolean {
  const plain = IPV4_IN_IPV6.exec(address ?? "")?.[1] ?? address ?? "";
  if (isIP(plain) === 0) return false;
  const list = new BlockList();
  for (const network of networks) {
    const [base = "", bits] = network.split("/");
    const family = familyOf(base);
    list.addSubnet(base, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family);
  }
  return list.check(plain, familyOf(plain));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
