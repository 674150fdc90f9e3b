// Defines the roles of members, from most to least permissions (decisions §2). The secret key acts as an ADMIN, a scoped key at most as its
// creator.
export const ROLES = ["OWNER", "ADMIN", "MEMBER"] as const;
export type Role = (typeof ROLES)[number];

/** Returns whether a role includes the permissions of another one. */
export function reaches(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(least);
}

/** Returns whether a role may see the secret key of its project. */
export function seesSecretKey(role: Role): boolean {
  return reaches(role, "ADMIN");
}
