// How far a project has come: what a dashboard shows to whoever begins (decisions §2).
// Before it: routes.ts. After it: nothing.
import type { Database } from "../platform/database.ts";
import { hasSubscription } from "../billing/billing.ts";
import type { Domains } from "../domains/domains.ts";
import { countAll } from "../contacts/list-contacts.ts";
import { readUse } from "./queries.ts";

export interface SetupState {
  hasSubscription: boolean;
  hasVerifiedDomain: boolean;
  contactCount: number;
  lastCampaignSentAt: string | null;
  hasEnabledWorkflow: boolean;
}

export async function readSetupState(
  { database, domains }: { database: Database; domains: Domains },
  projectId: string,
): Promise<SetupState> {
  const [listed, contactCount, use, isPaidFor] = await Promise.all([
    domains.list(projectId),
    countAll(database, projectId),
    readUse(database, projectId),
    hasSubscription(database, projectId),
  ]);
  return {
    hasSubscription: isPaidFor,
    hasVerifiedDomain: listed.some(({ verified }) => verified),
    contactCount,
    lastCampaignSentAt: use?.sentAt?.toISOString() ?? null,
    hasEnabledWorkflow: use?.hasWorkflow ?? false,
  };
}
