// Returns the setup progress of a project for the dashboard's getting started page (decisions §2).
import type { getSetupState } from "@postloft/contract/projects.ts";
import type { z } from "zod";
import type { Database } from "../platform/database/database.ts";
import { hasSubscription } from "../billing/billing.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import type { Domains } from "../domains/domains.ts";
import { countAll } from "../contacts/list-contacts.ts";
import { readUse } from "./queries.ts";

type SetupState = z.output<(typeof getSetupState)["responses"][200]>;

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
    hasOwnDomain: listed.some(({ verified, domain }) => verified && domain !== SANDBOX_DOMAIN),
    contactCount,
    firstMailAt: use?.firstMailAt?.toISOString() ?? null,
    hasReachedMember: use?.hasReachedMember ?? false,
    lastCampaignSentAt: use?.sentAt?.toISOString() ?? null,
    hasEnabledWorkflow: use?.hasWorkflow ?? false,
  };
}
