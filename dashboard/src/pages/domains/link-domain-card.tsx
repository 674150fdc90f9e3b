// The domain that a project's links, images and public pages use, with its DNS records.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { LinkDomainProblem } from "@postloft/contract/link-domains.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { Copied } from "./copied.tsx";
import { linkDomainQuery, type LinkDomain } from "./domains-query.ts";
import { STATES } from "./record-states.ts";

const BADGES: Record<LinkDomain["status"], { tone: Tone; label: string }> = {
  PENDING: { tone: "warn", label: t("Pending") },
  VERIFIED: { tone: "warn", label: t("Doesn't respond yet") },
  ACTIVE: { tone: "good", label: t("In use") },
};

const PROBLEMS: Record<LinkDomainProblem, string> = {
  DNS_MISSING: t("A DNS record is still missing."),
  DNS_ELSEWHERE: t("The domain leads to another server."),
  DNS_UNANSWERED: t("DNS didn't respond, so nothing was checked."),
  TAKEN: t("Another project has verified this domain."),
  UNREACHABLE: t("The domain doesn't respond, or the proxy has no certificate for it."),
  OTHER_SERVER: t("Something other than this installation responds at the domain."),
};

export function LinkDomainCard({ project }: { project: Project }) {
  const found = useQuery(linkDomainQuery(project.id));
  const [isSetting, setSetting] = useState(false);
  if (found.isPending) return <Skeleton className="h-32" />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  const { linkDomain } = found.data;
  return (
    <Card>
      <header className="flex flex-wrap items-center gap-3 px-5 py-4">
        <div className="min-w-48 flex-1 wrap-anywhere">
          <div className="flex flex-wrap items-center gap-2">
            <h3 className="font-semibold">{linkDomain?.domain ?? t("No link domain")}</h3>
            {linkDomain !== null && (
              <Badge tone={BADGES[linkDomain.status].tone}>{BADGES[linkDomain.status].label}</Badge>
            )}
          </div>
          {linkDomain === null ? (
            <p className="text-sm text-soft">{t("Emails use the address of this installation.")}</p>
          ) : (
            <Facts linkDomain={linkDomain} />
          )}
        </div>
        <Actions project={project} linkDomain={linkDomain} onSet={() => setSetting(true)} />
      </header>
      {linkDomain !== null && <Records records={linkDomain.records} />}
      {isSetting && (
        <SetDialog project={project} current={linkDomain?.domain ?? ""} onClose={() => setSetting(false)} />
      )}
    </Card>
  );
}

function Facts({ linkDomain: { problem, problemDetail, lastCheckedAt } }: { linkDomain: LinkDomain }) {
  return (
    <>
      <p className="text-sm text-faint">
        {lastCheckedAt === null
          ? t("Not checked yet")
          : t("Last checked {when}", { when: formatInstant(lastCheckedAt) })}
      </p>
      {problem !== null && (
        <p className="mt-1 text-sm text-bad">
          {PROBLEMS[problem]} {problemDetail !== null && <code className="text-xs">{problemDetail}</code>}
        </p>
      )}
    </>
  );
}

function Records({ records }: { records: LinkDomain["records"] }) {
  return (
    <ul className="divide-y divide-line border-t border-line">
      {records.map(({ type, name, value, found, status }) => (
        <li key={type} className="px-5 py-4">
          <div className="mb-2 flex flex-wrap items-center gap-2 text-sm">
            <h4 className="font-medium">{type === "TXT" ? t("Proof of ownership") : t("Alias")}</h4>
            <Badge tone={STATES[status].tone}>{STATES[status].label}</Badge>
          </div>
          <dl className="grid grid-cols-[5rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 text-sm">
            <dt className="text-faint">{t("Type")}</dt>
            <dd className="col-span-2 font-mono text-xs">{type}</dd>
            <Copied label={t("Name")} copy={t("Copy name")} value={name} />
            <Copied label={t("Value")} copy={t("Copy value")} value={value} />
            {found !== null && status === "MISMATCH" && (
              <>
                <dt className="text-faint">{t("Found")}</dt>
                <dd className="col-span-2 font-mono text-xs wrap-anywhere text-bad">{found.join(", ")}</dd>
              </>
            )}
          </dl>
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  project: Project;
  linkDomain: LinkDomain | null;
  onSet: () => void;
}

function Actions({ project, linkDomain, onSet }: ActionsProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const [isRemoving, setRemoving] = useState(false);
  const appError = whyNot(project, "ADMIN");
  const key = resourceKey(api.domains.getLinkDomain, { projectId: project.id });
  const checking = useMutation({
    mutationFn: () => call(api.domains.checkLinkDomain, { projectId: project.id }),
    onSuccess: async ({ domain, status }) => {
      await queries.invalidateQueries({ queryKey: key });
      toast(status === "ACTIVE" ? t("New emails use {domain}", { domain }) : BADGES[status].label);
    },
    onError: (error) => toast(t("Couldn't check the link domain"), error.message),
  });
  const removing = useMutation({
    mutationFn: () => call(api.domains.removeLinkDomain, { projectId: project.id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: key });
      toast(t("Link domain removed"), linkDomain?.domain);
      setRemoving(false);
    },
  });
  return (
    <div className="flex flex-wrap gap-2">
      {linkDomain !== null && (
        <Button busy={checking.isPending} onClick={() => checking.mutate()}>
          {t("Check now")}
        </Button>
      )}
      <Button disabled={appError !== undefined} title={appError} onClick={onSet}>
        {linkDomain === null ? t("Set link domain") : t("Change link domain")}
      </Button>
      {linkDomain !== null && (
        <Button
          look="quiet"
          disabled={appError !== undefined}
          title={appError}
          onClick={() => setRemoving(true)}
        >
          {t("Remove")}
        </Button>
      )}
      {isRemoving && (
        <ConfirmDialog
          title={t("Remove link domain?")}
          description={t(
            "New emails use the address of this installation. {domain} still serves the links in emails that were sent with it, so keep its DNS record.",
            { domain: linkDomain?.domain ?? "" },
          )}
          action={t("Remove link domain")}
          doing={removing}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}

interface SetDialogProps {
  project: Project;
  current: string;
  onClose: () => void;
}

function SetDialog({ project, current, onClose }: SetDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState(current);
  const setting = useMutation({
    mutationFn: () =>
      call(api.domains.setLinkDomain, { projectId: project.id, body: { domain: name.trim() } }),
    onSuccess: async ({ domain }) => {
      await queries.invalidateQueries({
        queryKey: resourceKey(api.domains.getLinkDomain, { projectId: project.id }),
      });
      toast(t("Link domain set"), t("Now add the DNS records for {domain}.", { domain }));
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Set link domain")}
      description={t(
        "Choose a name that isn't used for anything else. It serves only links, images and pages of this project.",
      )}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Domain")}
        placeholder="go.example.com"
        autoCapitalize="none"
        value={name}
        onChange={setName}
        action={t("Set link domain")}
        asking={setting}
        onCancel={onClose}
      />
    </Dialog>
  );
}
