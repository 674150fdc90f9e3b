// What the role of whoever is signed in opens in a project. The server decides; here it is told before one tries.
import type { Role } from "@postloft/contract/roles.ts";
import { t } from "../text/t.ts";
import type { Project } from "./queries.ts";

const NAMES: Record<Role, string> = { OWNER: t("Owner"), ADMIN: t("Admin"), MEMBER: t("Member") };

export function roleName(role: Role): string {
  return NAMES[role];
}

/** Why somebody may not do what asks for this role; undefined for those who may. */
export function whyNot({ role }: Project, least: "ADMIN" | "OWNER"): string | undefined {
  if (role === "OWNER" || (role === "ADMIN" && least === "ADMIN")) return undefined;
  return least === "OWNER"
    ? t("Only the project owner can do this.")
    : t("Only admins and the project owner can do this.");
}
