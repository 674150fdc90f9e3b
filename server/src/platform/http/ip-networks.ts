// Whether an address lies in one of some networks. Pure.
import { BlockList, isIP } from "node:net";

const IPV4_IN_IPV6 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** `networks`: addresses, and networks in CIDR notation. An address of IPv4 within IPv6 counts as the one of IPv4. */
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
