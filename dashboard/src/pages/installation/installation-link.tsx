// Links to the installation page, only for accounts that may open it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { adminApi } from "../../api/admin-endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";

export function InstallationCard() {
  const access = useQuery(query(adminApi.installation.access));
  if (access.data?.isAdmin !== true) return null;
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4">
        <div className="min-w-60 flex-1">
          <h2 className="font-semibold">{t("Installation")}</h2>
          <p className="text-sm text-soft">
            {t("You administer this installation: its processes, queues and projects.")}
          </p>
        </div>
        <Link to="/installation" className={buttonClass("plain")}>
          {t("Open installation")}
        </Link>
      </div>
    </Card>
  );
}
