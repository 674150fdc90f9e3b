// A sender domain that is proved: added, its records published at the DNS server of the test, looked at.
import type { DnsServer } from "./dns-server.ts";
import type { OneServer, TestCaller } from "./test-server.ts";

/** `server` asks `dns` (DNS_SERVERS). */
export async function proveDomain(
  server: Pick<OneServer, "call">,
  dns: DnsServer,
  caller: TestCaller,
  domain: string,
): Promise<void> {
  const { body } = await server.call<{ id: string; records: Array<{ name: string; value: string }> }>(
    "POST",
    "/domains",
    caller,
    { domain },
  );
  for (const { name, value } of body.records) dns.setTxt(name, [value]);
  await server.call("GET", `/domains/${body.id}/verify`, caller);
}
