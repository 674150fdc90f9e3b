// The sender domains of a project.
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { configQuery } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { DomainCard } from "./domain-card.tsx";
import { domainsQuery } from "./domains-query.ts";
import { LinkDomainCard } from "./link-domain-card.tsx";
import { NewDomainDialog } from "./new-domain-dialog.tsx";
import { useProject } from "../project-shell.tsx";

export function DomainsPage() {
  const project = useProject();
  const domains = useQuery(domainsQuery(project.id));
  const isLocal = useQuery(configQuery).data?.features.email.provider === "mailbox";
  const [isAdding, setAdding] = useState(false);
  const appError = whyNot(project, "ADMIN");
  const add = (
    <Button look="primary" onClick={() => setAdding(true)} disabled={appError !== undefined} title={appError}>
      <Plus size={15} aria-hidden /> {t("Add domain")}
    </Button>
  );
  return (
    <Page title={t("Domains")} about={t("Verify the domains you send from.")} actions={add}>
      {isLocal && (
        <p className="mb-5 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm text-warn">
          {t(
            "Emails stay in the local mailbox, so we don't check DNS. Once you send real emails, each domain needs its records.",
          )}
        </p>
      )}
      {domains.isPending && <Skeleton className="h-40" />}
      {domains.isError && <Failure error={domains.error} onRetry={() => void domains.refetch()} />}
      {domains.data?.length === 0 && (
        <Card>
          <Empty title={t("No domains yet")}>
            {t("Add the domain you want to send from. We'll show you the DNS records to create.")}
          </Empty>
        </Card>
      )}
      <div className="flex flex-col gap-5">
        {domains.data?.map((domain) => (
          <DomainCard key={domain.id} project={project} domain={domain} isLocal={isLocal} />
        ))}
      </div>
      <h2 className="mt-8 mb-1 font-semibold">{t("Link domain")}</h2>
      <p className="mb-3 text-sm text-soft">
        {t("The domain of links, images and unsubscribe pages in your emails.")}
      </p>
      <LinkDomainCard project={project} />
      {isAdding && <NewDomainDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Page>
  );
}
