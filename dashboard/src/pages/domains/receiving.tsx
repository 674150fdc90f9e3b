// Turns receiving at a domain on and off, and shows the MX record that it needs.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Badge } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { Copied } from "./copied.tsx";
import type { Domain } from "./domains-query.ts";
import { STATES } from "./record-states.ts";

interface ReceivingProps {
  project: Project;
  domain: Domain;
}

export function Receiving({ project, domain: { id, domain, receiving } }: ReceivingProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const changing = useMutation({
    mutationFn: (wanted: boolean) =>
      call(api.domains.update, { projectId: project.id, params: { id }, body: { receiving: wanted } }),
    onSuccess: () =>
      queries.invalidateQueries({ queryKey: resourceKey(api.domains.list, { projectId: project.id }) }),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  if (receiving === null) return null;
  const { enabled, record } = receiving;
  const appError = whyNot(project, "ADMIN");
  return (
    <div className="border-t border-line px-5 py-4">
      <Checkbox
        label={t("Receive emails at {domain}", { domain })}
        help={t("Every address at this domain then belongs to the project.")}
        checked={changing.isPending ? changing.variables : enabled}
        disabled={appError !== undefined || changing.isPending}
        title={appError}
        onChange={({ target }) => changing.mutate(target.checked)}
      />
      {enabled && (
        <>
          <div className="mt-4 mb-2 flex flex-wrap items-center gap-2 text-sm">
            <h3 className="font-medium">{t("Receiving (MX)")}</h3>
            <Badge tone={STATES[record.status].tone}>{STATES[record.status].label}</Badge>
          </div>
          <dl className="grid grid-cols-[5rem_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 text-sm">
            <dt className="text-faint">{t("Type")}</dt>
            <dd className="col-span-2 font-mono text-xs">{record.type}</dd>
            <Copied label={t("Name")} copy={t("Copy name")} value={record.name} />
            <Copied label={t("Value")} copy={t("Copy value")} value={record.value} />
            {record.found !== null && (
              <>
                <dt className="text-faint">{t("Found")}</dt>
                <dd className="col-span-2 font-mono text-xs wrap-anywhere whitespace-pre-line">
                  {record.found}
                </dd>
              </>
            )}
          </dl>
          <p className="mt-2 text-sm text-soft">
            {t("All emails to this domain go to Postloft. Use a subdomain if it has mailboxes.")}
          </p>
        </>
      )}
    </div>
  );
}
