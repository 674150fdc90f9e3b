// The sender domains of a project: add one, copy its records, check them now. After it: domain-card.tsx.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { createDomain } from "../../api/endpoints.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { DomainCard } from "./domain-card.tsx";
import { domainsQuery } from "./domains-query.ts";
import { useProject } from "../project-shell.tsx";

export function DomainsPage() {
  const project = useProject();
  const domains = useQuery(domainsQuery(project.id));
  const [isAdding, setAdding] = useState(false);
  const refusal = whyNot(project, "ADMIN");
  const add = (
    <Button look="primary" onClick={() => setAdding(true)} disabled={refusal !== undefined} title={refusal}>
      <Plus size={15} aria-hidden /> {t("Add domain")}
    </Button>
  );
  return (
    <Page
      title={t("Domains")}
      about={t("From which addresses this project sends, proved by records in DNS.")}
      actions={add}
    >
      {domains.isPending && <Skeleton className="h-40" />}
      {domains.isError && <Failure error={domains.error} onRetry={() => void domains.refetch()} />}
      {domains.data?.length === 0 && (
        <Card>
          <Empty title={t("No domain yet")}>
            {t(
              "Add the domain you want to send from. You get records to put into its DNS, and see here what is found there.",
            )}
          </Empty>
        </Card>
      )}
      <div className="flex flex-col gap-5">
        {domains.data?.map((domain) => (
          <DomainCard key={domain.id} project={project} domain={domain} />
        ))}
      </div>
      {isAdding && <NewDomainDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function NewDomainDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState("");
  const adding = useMutation({
    mutationFn: () => call(createDomain, { projectId, body: { domain: name.trim() } }),
    onSuccess: async ({ domain }) => {
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
      toast(t("Domain added"), t("Now put the records of {domain} into its DNS.", { domain }));
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Add a domain")}
      description={t("Mail is sent from exactly this name, not from those below it.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Domain")}
        placeholder="mail.example.com"
        autoCapitalize="none"
        value={name}
        onChange={setName}
        action={t("Add domain")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}
