// Shows what each role may do, with the user's own role marked.
import { Check, Minus } from "lucide-react";
import { reaches, ROLES, type Role } from "@postloft/contract/roles.ts";
import { roleName } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { ROLE_RIGHTS } from "./role-rights.ts";

const LABELS: Record<keyof typeof ROLE_RIGHTS, string> = {
  contacts: t("Contacts, imports and segments"),
  content: t("Templates, campaigns and workflows"),
  reports: t("Emails, activity and reports"),
  suppressions: t("Suppression list"),
  domains: t("Domains"),
  keys: t("Replace API keys"),
  webhooks: t("Webhooks"),
  members: t("Members and invitations"),
  settings: t("Project settings, caps and billing"),
  audit: t("Audit log"),
  removal: t("Reset or delete the project"),
  enabling: t("Enable a suspended project"),
  ownership: t("Transfer ownership"),
};
const RIGHTS = Object.keys(LABELS) as Array<keyof typeof LABELS>;

export function RoleMatrix({ own }: { own: Role }) {
  return (
    <Card className="overflow-hidden">
      <h2 className="border-b border-line px-5 py-3 font-semibold">{t("Roles")}</h2>
      <div
        role="region"
        aria-label={t("Roles")}
        tabIndex={0}
        className="relative overflow-x-auto focus-visible:-outline-offset-2"
      >
        <table className="w-full min-w-md text-sm">
          <thead className="border-b border-line text-soft">
            <tr>
              <th scope="col" className="px-5 py-2 text-left font-medium">
                {t("Permission")}
              </th>
              {ROLES.map((role) => (
                <th key={role} scope="col" className="w-24 px-2 py-2 text-center font-medium">
                  {roleName(role)}
                  {role === own && <span className="block text-xs font-normal text-faint">{t("You")}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {RIGHTS.map((right) => (
              <tr key={right}>
                <th scope="row" className="px-5 py-2 text-left font-normal">
                  {LABELS[right]}
                </th>
                {ROLES.map((role) => (
                  <td key={role} className="px-2 py-2 text-center">
                    <Mark isAllowed={reaches(role, ROLE_RIGHTS[right].least)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Mark({ isAllowed }: { isAllowed: boolean }) {
  const Icon = isAllowed ? Check : Minus;
  return (
    <>
      <Icon size={15} aria-hidden className={`inline ${isAllowed ? "text-good" : "text-faint"}`} />
      <span className="sr-only">{isAllowed ? t("Yes") : t("No")}</span>
    </>
  );
}
