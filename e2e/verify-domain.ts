// A sender domain becomes the project's own: added over the API, its record published, checked.
import type { ApiClient } from "./api-client.ts";
import type { DnsServer } from "../server/src/testing/dns-server.ts";

export interface DomainItem {
  id: string;
  status: string;
  records: Array<{ name: string; value: string; status: string }>;
}

/** Publishes what `POST /domains` asks for and answers what the check says. */
export async function verifyDomain(api: ApiClient, dns: DnsServer, domain: string): Promise<DomainItem> {
  const added = await api.post<DomainItem>("/domains", { domain });
  for (const { name, value } of added.records) dns.setTxt(name, [value]);
  return api.get<DomainItem>(`/domains/${added.id}/verify`);
}
