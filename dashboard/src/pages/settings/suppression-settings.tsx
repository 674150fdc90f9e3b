// Searches and edits the suppression list, and sets whether it is applied.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus, Upload } from "lucide-react";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { resourceKey } from "../../api/query-key.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { formatDay } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Card, READABLE_CLASS } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ImportSuppressionsDialog } from "./import-suppressions.tsx";
import { SUPPRESSION_REASONS } from "./suppression-reasons.ts";

type Suppression = ApiResponse<typeof api.suppressions.list>["data"][number];

interface SuppressionSettingsProps {
  project: Project;
  search: string;
  onSearch: (text: string) => void;
}

export function SuppressionSettings({ project, search, onSearch }: SuppressionSettingsProps) {
  const [isAdding, setAdding] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [removed, setRemoved] = useState<string | null>(null);
  const list = useList(api.suppressions.list, {
    projectId: project.id,
    query: search === "" ? {} : { search },
  });
  return (
    <>
      <Switch project={project} />
      <div className="mt-5 mb-3 flex flex-wrap items-center justify-between gap-3">
        <SearchBox label={t("Search by email")} value={search} onSearch={onSearch} />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setImporting(true)}>
            <Upload size={15} aria-hidden /> {t("Import")}
          </Button>
          <Button onClick={() => setAdding(true)}>
            <Plus size={15} aria-hidden /> {t("Add address")}
          </Button>
        </div>
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <Empty title={search === "" ? t("No suppressed addresses") : t("No matching addresses")}>
              {search === ""
                ? t("Hard bounces and complaints are added automatically.")
                : t("Try a different search.")}
            </Empty>
          ) : (
            <Table
              label={t("Suppressed addresses")}
              columns={columnsOf(setRemoved)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More
        count={list.total === undefined ? "" : plural(list.total, "{n} address", "{n} addresses")}
        list={list}
      />
      {isImporting && <ImportSuppressionsDialog projectId={project.id} onClose={() => setImporting(false)} />}
      {isAdding && <AddDialog project={project} onClose={() => setAdding(false)} />}
      {removed !== null && (
        <RemoveDialog projectId={project.id} address={removed} onClose={() => setRemoved(null)} />
      )}
    </>
  );
}

function columnsOf(onRemove: (address: string) => void): Array<Column<Suppression>> {
  return [
    {
      key: "email",
      head: t("Email address"),
      cell: ({ email }) => <bdi className="font-medium">{email}</bdi>,
    },
    { key: "reason", head: t("Reason"), width: "w-40", cell: ({ reason }) => SUPPRESSION_REASONS[reason] },
    {
      key: "createdAt",
      head: t("Added"),
      width: "w-32",
      cell: ({ createdAt }) => <span className="text-soft tabular-nums">{formatDay(createdAt)}</span>,
    },
    {
      key: "remove",
      head: "",
      width: "w-28",
      align: "end",
      cell: ({ email }) => (
        <Button look="quiet" aria-label={t("Remove {email}", { email })} onClick={() => onRemove(email)}>
          {t("Remove")}
        </Button>
      ),
    },
  ];
}

function Switch({ project }: { project: Project }) {
  const queries = useQueryClient();
  const toast = useToast();
  const appError = whyNot(project, "ADMIN");
  const switching = useMutation({
    mutationFn: (suppressionList: boolean) =>
      call(api.projects.update, { projectId: project.id, body: { suppressionList } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      await queries.invalidateQueries({
        queryKey: resourceKey(api.suppressions.list, { projectId: project.id }),
      });
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <Card className={`p-5 ${READABLE_CLASS}`}>
      <Checkbox
        label={t("Block all email to suppressed addresses")}
        help={t("Includes transactional email. When off, we keep the list but don't use it.")}
        checked={switching.isPending ? switching.variables : project.suppressionList}
        disabled={appError !== undefined || switching.isPending}
        title={appError}
        onChange={({ target }) => switching.mutate(target.checked)}
      />
    </Card>
  );
}

function AddDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const projectId = project.id;
  const queries = useQueryClient();
  const toast = useToast();
  const [address, setAddress] = useState("");
  const adding = useMutation({
    mutationFn: () => call(api.suppressions.add, { projectId, body: { emails: [address.trim()] } }),
    onSuccess: async ({ added }) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.suppressions.list, { projectId }) });
      toast(added > 0 ? t("Address added") : t("Already on the list"), address.trim());
      onClose();
    },
  });
  return (
    <Dialog title={t("Add address")} open onClose={onClose}>
      {!project.suppressionList && (
        <p className="mb-4 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
          {t("This project doesn't apply the list yet, so the address still gets email.")}
        </p>
      )}
      <OneFieldForm
        label={t("Email address")}
        type="email"
        value={address}
        onChange={setAddress}
        action={t("Add address")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}

interface RemoveProps {
  projectId: string;
  address: string;
  onClose: () => void;
}

function RemoveDialog({ projectId, address, onClose }: RemoveProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const removing = useMutation({
    mutationFn: () => call(api.suppressions.remove, { projectId, params: { address } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.suppressions.list, { projectId }) });
      toast(t("Address removed"), address);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Remove address?")}
      description={t("{email} can get email again. An unsubscribed contact stays unsubscribed.", {
        email: address,
      })}
      action={t("Remove address")}
      doing={removing}
      onClose={onClose}
    />
  );
}
