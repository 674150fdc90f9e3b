// Whether an address is this machine's own: then nobody but this machine can come from it, or listen there. Pure.

/** A name or an address, an IPv4 address within IPv6 too. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(host);
}
