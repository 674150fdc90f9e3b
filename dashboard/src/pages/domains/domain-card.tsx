// One sender domain: each record with what is expected and what DNS has, to copy and to check. Before it: domains-page.tsx.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { deleteDomain, verifyDomain } from "../../api/endpoints.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { CopyButton } from "../../ui/snippet.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { domainsQuery, type Domain } from "./domains-page.tsx";

type DnsRecord = Domain["records"][number];

const STATES: Record<DnsRecord["status"], { tone: Tone; label: string }> = {
  FOUND: { tone: "good", label: t("Found") },
  MISSING: { tone: "warn", label: t("Not there yet") },
  MISMATCH: { tone: "bad", label: t("Differs") },
  UNCHECKED: { tone: "neutral", label: t("Not checked yet") },
};
const PURPOSES: Record<DnsRecord["purpose"], string> = {
  dkim: t("Signature (DKIM)"),
  "return-path": t("Return path (SPF)"),
  spf: t("Senders (SPF)"),
  dmarc: t("Policy (DMARC)"),
};

export function DomainCard({ project, domain }: { project: Project; domain: Domain }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [isDeleting, setDeleting] = useState(false);
  const refusal = whyNot(project, "ADMIN");
  const checking = useMutation({
    mutationFn: () => call(verifyDomain, { projectId: project.id, params: { id: domain.id } }),
    onSuccess: async ({ verified }) => {
      await queries.invalidateQueries({ queryKey: ["project", project.id] });
      toast(verified ? `${domain.domain} is verified` : t("Checked: something is still missing"));
    },
    onError: (error) => toast(t("It could not be checked"), error.message),
  });
  const checkedAt = domain.lastCheckedAt;
  return (
    <Card>
      <header className="flex flex-wrap items-center gap-3 px-5 py-4">
        <div className="min-w-48 flex-1">
          <div className="flex flex-wrap items-center gap-2">
            <h2 className="font-semibold">{domain.domain}</h2>
            <Badge tone={domain.verified ? "good" : "warn"}>
              {domain.verified ? t("Verified") : t("Pending")}
            </Badge>
          </div>
          {domain.records.length > 0 && (
            <p className="text-sm text-faint">
              {checkedAt === null
                ? t("Not checked yet")
                : t("Last checked {when}", { when: formatInstant(checkedAt) })}
            </p>
          )}
          {domain.lastError !== null && <p className="mt-1 text-sm text-bad">{domain.lastError}</p>}
        </div>
        {/* One without records belongs to the installation: there is nothing to check, and it cannot be removed. */}
        {domain.records.length > 0 && (
          <>
            <Button busy={checking.isPending} onClick={() => checking.mutate()}>
              {t("Check now")}
            </Button>
            <Button
              look="quiet"
              disabled={refusal !== undefined}
              title={refusal}
              onClick={() => setDeleting(true)}
            >
              {t("Remove")}
            </Button>
          </>
        )}
      </header>
      {domain.records.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {domain.records.map((record) => (
            <RecordRow key={`${record.purpose} ${record.name}`} record={record} />
          ))}
        </ul>
      )}
      {isDeleting && <DeleteDialog project={project} domain={domain} onClose={() => setDeleting(false)} />}
    </Card>
  );
}

function RecordRow({ record }: { record: DnsRecord }) {
  const { tone, label } = STATES[record.status];
  return (
    <li className="px-5 py-4">
      <div className="mb-2 flex flex-wrap items-center gap-2 text-sm">
        <h3 className="font-medium">{PURPOSES[record.purpose]}</h3>
        <Badge tone={tone}>{label}</Badge>
        <span className="text-faint">{record.required ? t("Required") : t("Recommended")}</span>
      </div>
      <dl className="grid grid-cols-[4.5rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 text-sm">
        <dt className="text-faint">{t("Type")}</dt>
        <dd className="col-span-2 font-mono text-xs">{record.type}</dd>
        <Copied label={t("Name")} copy={t("Copy the name")} value={record.name} />
        <Copied label={t("Value")} copy={t("Copy the value")} value={record.value} />
        {record.status === "MISMATCH" && record.found !== null && (
          <>
            <dt className="text-faint">{t("Found")}</dt>
            <dd className="col-span-2 font-mono text-xs wrap-anywhere whitespace-pre-line text-bad">
              {record.found}
            </dd>
          </>
        )}
      </dl>
      {record.advice !== null && <p className="mt-2 text-sm text-soft">{record.advice}</p>}
    </li>
  );
}

function Copied({ label, copy, value }: { label: string; copy: string; value: string }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="truncate font-mono text-xs" title={value}>
        {value}
      </dd>
      <dd>
        <CopyButton text={value} label={copy} />
      </dd>
    </>
  );
}

interface DeleteProps {
  project: Project;
  domain: Domain;
  onClose: () => void;
}

function DeleteDialog({ project, domain, onClose }: DeleteProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const deleting = useMutation({
    mutationFn: () => call(deleteDomain, { projectId: project.id, params: { id: domain.id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: domainsQuery(project.id).queryKey });
      toast(t("Domain removed"), domain.domain);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Remove this domain?")}
      description={t("Nothing is sent from {domain} any more. Adding it again makes new records.", {
        domain: domain.domain,
      })}
      action={t("Remove domain")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
