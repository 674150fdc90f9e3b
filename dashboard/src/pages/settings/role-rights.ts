// What each role may do, as the rows of a matrix. A test compares the rows with the contract.
import type { Role } from "@postloft/contract/roles.ts";

interface RoleRight {
  /** The role with the fewest rights that may do this. */
  least: Role;
  /** Endpoints that require this role. */
  endpoints: readonly string[];
}

export const ROLE_RIGHTS = {
  contacts: { least: "MEMBER", endpoints: ["contacts.upsert", "contacts.delete", "segments.create"] },
  content: { least: "MEMBER", endpoints: ["templates.create", "campaigns.send", "workflows.create"] },
  reports: { least: "MEMBER", endpoints: ["emails.list", "activity.list", "analytics.summary"] },
  suppressions: { least: "MEMBER", endpoints: ["suppressions.add", "suppressions.remove"] },
  domains: { least: "ADMIN", endpoints: ["domains.create", "domains.delete"] },
  keys: { least: "ADMIN", endpoints: ["projects.regenerateKeys"] },
  webhooks: { least: "ADMIN", endpoints: ["webhooks.createEndpoint", "webhooks.rotateSecret"] },
  members: { least: "ADMIN", endpoints: ["members.add", "invitations.revoke"] },
  settings: {
    least: "ADMIN",
    endpoints: ["projects.update", "billing.updateLimits", "billing.checkout"],
  },
  audit: { least: "ADMIN", endpoints: ["audit.list"] },
  removal: { least: "ADMIN", endpoints: ["projects.reset", "projects.delete"] },
  enabling: { least: "OWNER", endpoints: ["projects.enable"] },
  ownership: { least: "OWNER", endpoints: ["members.transferOwnership"] },
} as const satisfies Record<string, RoleRight>;
