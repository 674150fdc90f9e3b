// The roles of members, from most to least (decisions §2). A secret key has the rights of an admin.
// Before it: nothing. After it: endpoint.ts asks for the least role; rights.ts makes the table.
export const ROLES = ["OWNER", "ADMIN", "MEMBER"] as const;
export type Role = (typeof ROLES)[number];

/** Whether a role has the rights of another: each has those of all that follow it. */
export function reaches(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(least);
}
