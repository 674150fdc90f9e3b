// Shows a domain's DNS records, each with its expected and current value, to copy and check.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { DomainMistake } from "@postloft/contract/domain-mistakes.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { resourceKey } from "../../api/query-key.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Said } from "../../ui/said.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { CopyButton } from "../../ui/snippet.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { Copied } from "./copied.tsx";
import { dnsAdviceText } from "./dns-advice-text.ts";
import { mistakesQuery, type Domain } from "./domains-query.ts";
import { mistakeText } from "./mistake-text.ts";
import { Receiving } from "./receiving.tsx";
import { STATES } from "./record-states.ts";
import { RotateKey } from "./rotate-key.tsx";
import { zoneFileOf } from "./zone-file.ts";

type DnsRecord = Domain["records"][number];

const PURPOSES: Record<DnsRecord["purpose"], string> = {
  dkim: t("Signature (DKIM)"),
  "return-path": t("Return path (SPF)"),
  spf: t("Senders (SPF)"),
  dmarc: t("Policy (DMARC)"),
};

/** With the local mailbox: DNS was not asked, and it is not said that it was. */
const COUNTED: (typeof STATES)["FOUND"] = { tone: "neutral", label: t("Assumed found") };

interface DomainCardProps {
  project: Project;
  domain: Domain;
  /** Email stays in the local mailbox and DNS is not queried. */
  isLocal: boolean;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function DomainCard({ project, domain, isLocal }: DomainCardProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const [isDeleting, setDeleting] = useState(false);
  const appError = whyNot(project, "ADMIN");
  const checking = useMutation({
    mutationFn: () => call(api.domains.verify, { projectId: project.id, params: { id: domain.id } }),
    onSuccess: async ({ verified }) => {
      await queries.invalidateQueries({ queryKey: projectKey(project.id) });
      if (isLocal)
        toast(
          t("{domain} is assumed verified", { domain: domain.domain }),
          t("We don't check DNS while you use the local mailbox."),
        );
      else
        toast(
          verified
            ? t("{domain} is verified", { domain: domain.domain })
            : t("Some records are still missing"),
        );
    },
    onError: (error) => toast(t("Couldn't check DNS"), error.message),
  });
  const checkedAt = domain.lastCheckedAt;
  const mistakes = useQuery(mistakesQuery(project.id, domain));
  const mistakesOf = ({ name, purpose }: DnsRecord) =>
    mistakes.data?.records.find((one) => one.name === name && one.purpose === purpose)?.mistakes ?? [];
  return (
    <Card id={domain.domain}>
      <header className="flex flex-wrap items-center gap-3 px-5 py-4">
        <div className="min-w-48 flex-1 wrap-anywhere">
          <div className="flex flex-wrap items-center gap-2">
            <h2 className="font-semibold">{domain.domain}</h2>
            <StateBadge domain={domain} isLocal={isLocal} />
          </div>
          {domain.records.length > 0 && (
            <p className="text-sm text-faint">
              {checkedAt === null
                ? t("Not checked yet")
                : isLocal
                  ? t("DNS not checked, assumed valid {when}", { when: formatInstant(checkedAt) })
                  : t("Last checked {when}", { when: formatInstant(checkedAt) })}
            </p>
          )}
          {domain.lastErrorParts.length > 0 && (
            <p className="mt-1 text-sm text-bad">{dnsAdviceText(domain.lastErrorParts)}</p>
          )}
        </div>
        {/* A domain without records belongs to the installation, so it cannot be checked or removed. */}
        {domain.records.length > 0 && (
          <div className="flex flex-wrap gap-2">
            <Button busy={checking.isPending} onClick={() => checking.mutate()}>
              {t("Check now")}
            </Button>
            <RotateKey project={project} domain={domain} />
            <Button
              look="quiet"
              disabled={appError !== undefined}
              title={appError}
              onClick={() => setDeleting(true)}
            >
              {t("Remove")}
            </Button>
          </div>
        )}
      </header>
      {domain.records.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {domain.records.map((record) => (
            <RecordRow
              key={`${record.purpose} ${record.name}`}
              record={record}
              checkedAt={checkedAt}
              isLocal={isLocal}
              mistakes={mistakesOf(record)}
            />
          ))}
        </ul>
      )}
      <Receiving project={project} domain={domain} />
      {domain.records.length > 0 && <ZoneFile domain={domain} />}
      {isDeleting && <DeleteDialog project={project} domain={domain} onClose={() => setDeleting(false)} />}
    </Card>
  );
}

function StateBadge({ domain: { verified, records }, isLocal }: Omit<DomainCardProps, "project">) {
  if (!verified) return <Badge tone="warn">{t("Pending")}</Badge>;
  // One without records is the installation's own, and needs no proof.
  if (isLocal && records.length > 0) return <Badge tone="neutral">{t("Assumed verified")}</Badge>;
  return <Badge tone="good">{t("Verified")}</Badge>;
}

/** Exports all records as a zone file for name servers and DNS providers. */
function ZoneFile({ domain: { domain, records } }: { domain: Domain }) {
  const file = zoneFileOf(domain, records);
  const save = () => saveFile(new Blob([file], { type: "text/plain" }), `${domain}.zone.txt`);
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2.5 pr-3 pl-5 text-sm">
      <p className="min-w-60 flex-1 text-soft">
        {t("Many DNS providers can import all records from a zone file.")}
      </p>
      <Button look="quiet" onClick={save}>
        <Download size={14} aria-hidden /> {t("Zone file")}
      </Button>
      <CopyButton text={file} label={t("Copy zone file")} />
    </footer>
  );
}

interface RecordRowProps {
  record: DnsRecord;
  checkedAt: string | null;
  isLocal: boolean;
  mistakes: readonly DomainMistake[];
}

function RecordRow({ record, checkedAt, isLocal, mistakes }: RecordRowProps) {
  const { tone, label } = isLocal && record.status === "FOUND" ? COUNTED : STATES[record.status];
  const { found, lookedUpAt } = record;
  const isWrong = record.status === "MISMATCH";
  return (
    <li className="px-5 py-4">
      <div className="mb-2 flex flex-wrap items-center gap-2 text-sm">
        <h3 className="font-medium">{PURPOSES[record.purpose]}</h3>
        <Badge tone={tone}>{label}</Badge>
        <span className="text-faint">{record.required ? t("Required") : t("Recommended")}</span>
      </div>
      <dl className="grid grid-cols-[5rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 text-sm">
        <dt className="text-faint">{t("Type")}</dt>
        <dd className="col-span-2 font-mono text-xs">{record.type}</dd>
        <Copied label={t("Name")} copy={t("Copy name")} value={record.name} />
        <Copied label={t("Value")} copy={t("Copy value")} value={record.value} />
        {found !== null && found !== record.value && (
          <>
            <dt className="text-faint">{t("Found")}</dt>
            <dd
              className={`col-span-2 font-mono text-xs wrap-anywhere whitespace-pre-line ${isWrong ? "text-bad" : ""}`}
            >
              {found}
            </dd>
          </>
        )}
        {lookedUpAt !== null && (
          <>
            <dt className="text-faint">{t("Checked")}</dt>
            <dd className="col-span-2 text-xs wrap-anywhere text-soft">
              <time dateTime={lookedUpAt}>{formatInstant(lookedUpAt)}</time>
              {" · "}
              {t("by {servers}", { servers: record.servers.join(", ") })}
              {lookedUpAt !== checkedAt && ` · ${t("no response since")}`}
            </dd>
          </>
        )}
      </dl>
      {mistakes.map((mistake) => (
        <p key={mistake.code} className="mt-2 flex gap-2 text-sm">
          <TriangleAlert size={15} className="mt-0.5 shrink-0 text-warn" aria-label={t("Likely mistake")} />
          <span className="min-w-0 wrap-anywhere">{mistakeText(mistake)}</span>
        </p>
      ))}
      {mistakes.length === 0 && record.adviceParts.length > 0 && (
        <p className="mt-2 text-sm text-soft">
          <Said>{dnsAdviceText(record.adviceParts)}</Said>
        </p>
      )}
    </li>
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
    mutationFn: () => call(api.domains.delete, { projectId: project.id, params: { id: domain.id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.domains.list, { projectId: project.id }) });
      toast(t("Domain removed"), domain.domain);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Remove domain?")}
      description={t(
        "You can't send from {domain} after this. If you add it again, it gets new DNS records.",
        {
          domain: domain.domain,
        },
      )}
      action={t("Remove domain")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
