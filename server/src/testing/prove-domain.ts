// Adds and verifies a sender domain in tests by publishing its records at the test's DNS server.
import * as domains from "@postloft/contract/domains.ts";
import type { DnsServer } from "./dns-server.ts";
import type { OneServer, TestCaller } from "./test-server.ts";

/** Verifies a domain. The `server` must use `dns` (DNS_SERVERS). */
export async function proveDomain(
  server: Pick<OneServer, "call">,
  dns: DnsServer,
  caller: TestCaller,
  domain: string,
): Promise<void> {
  const { body } = await server.call(domains.createDomain, caller, { body: { domain } });
  for (const { name, value } of body.records) dns.setTxt(name, [value]);
  await server.call(domains.verifyDomain, caller, { params: { id: body.id } });
}
