// Checks whether an address belongs to this machine only, so that no other machine can connect from or to it. Pure.

/** Accepts a name or an address, including an IPv4 address mapped to IPv6. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(host);
}
