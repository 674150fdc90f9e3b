// Whether the endpoint of Amazon SES can be reached, before there is a message: a connection, with TLS, and nothing said over it.
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Reachable } from "./transport.ts";

/** Only a request shows whether the access key is good, and every request that shows it needs a permission more than sending does. */
export async function reachSes(endpoint: string, timeoutMs: number, ca?: string): Promise<Reachable> {
  const { protocol, hostname, port } = new URL(endpoint);
  const isSecure = protocol === "https:";
  const target = { host: hostname, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure
    ? connectTls({ ...target, servername: hostname, ...(ca === undefined ? {} : { ca }) })
    : connectTcp(target);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs / 1000} s`)));
      socket.once("error", reject);
      socket.once(isSecure ? "secureConnect" : "connect", () => resolve());
    });
    return { tls: isSecure ? (socket as TLSSocket).getProtocol() : null, login: "untried" };
  } finally {
    socket.destroy();
  }
}
