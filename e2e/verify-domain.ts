// Adds a sender domain over the API, publishes its records and verifies it.
import type { ApiClient } from "./api-client.ts";
import type { DnsServer } from "../server/src/testing/dns-server.ts";

export interface DomainItem {
  id: string;
  status: string;
  records: Array<{ name: string; value: string; status: string }>;
}

/** Publishes the records that `POST /domains` returns. Returns the result of the check. */
export async function verifyDomain(api: ApiClient, dns: DnsServer, domain: string): Promise<DomainItem> {
  const added = await api.post<DomainItem>("/domains", { domain });
  for (const { name, value } of added.records) dns.setTxt(name, [value]);
  return api.get<DomainItem>(`/domains/${added.id}/verify`);
}
