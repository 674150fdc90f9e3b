// Whether an address is this machine's own: then nobody but this machine can come from it, or listen there. Pure.
// Before it: a setting, or a connection. After it: whoever lets this machine do more than others.

/** A name or an address, an IPv4 address within IPv6 too. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(host);
}
