// Explains which actions a role allows in a project. The server enforces them; this only informs early.
import type { Role } from "@postloft/contract/roles.ts";
import { t } from "../text/t.ts";
import type { Project } from "./queries.ts";

const NAMES: Record<Role, string> = { OWNER: t("Owner"), ADMIN: t("Admin"), MEMBER: t("Member") };

export function roleName(role: Role): string {
  return NAMES[role];
}

/** Returns why the user lacks the required role, or undefined if the role is sufficient. */
export function whyNot({ role }: Project, least: "ADMIN" | "OWNER"): string | undefined {
  if (role === "OWNER" || (role === "ADMIN" && least === "ADMIN")) return undefined;
  return least === "OWNER"
    ? t("Only the project owner can do this.")
    : t("Only admins and the project owner can do this.");
}
