// Checks whether the endpoint of Amazon SES accepts connections (with TLS), without sending anything.
import { connect as connectTcp, type LookupFunction } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Reachable } from "./transport.ts";

/** Connects to the endpoint. The access key stays untested because any request that tests it needs a permission beyond sending. */
export async function reachSes(
  endpoint: string,
  timeoutMs: number,
  { ca, lookup }: { ca?: string; lookup?: LookupFunction } = {},
): Promise<Reachable> {
  const { protocol, hostname, port } = new URL(endpoint);
  const isSecure = protocol === "https:";
  const target = {
    host: hostname,
    port: Number(port || (isSecure ? 443 : 80)),
    ...(lookup === undefined ? {} : { lookup }),
  };
  const socket = isSecure
    ? connectTls({ ...target, servername: hostname, ...(ca === undefined ? {} : { ca }) })
    : connectTcp(target);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(timeoutMs, () => reject(new Error(`no response within ${timeoutMs / 1000} s`)));
      socket.once("error", reject);
      socket.once(isSecure ? "secureConnect" : "connect", () => resolve());
    });
    return { tls: isSecure ? (socket as TLSSocket).getProtocol() : null, login: "untried" };
  } finally {
    socket.destroy();
  }
}
