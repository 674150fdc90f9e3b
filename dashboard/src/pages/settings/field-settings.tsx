// Lists custom fields with type, fill rate, values and usage. Deleting a field requires typing its name.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { formatShare } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { coverageQuery, fieldsQuery, type ContactField } from "../contacts/field-queries.ts";
import { TYPE_NAMES } from "../segments/condition-builder/fields.ts";
import { FieldType } from "./field-type.tsx";

type Usage = ApiResponse<typeof api.contacts.getFieldUsage>;

const VALUES_SHOWN = "8";
/** Prefix of custom fields in the API. */
const PREFIX = "data.";
const nameOf = (field: string) => field.slice(PREFIX.length);

export function FieldSettings({ project }: { project: Project }) {
  const [opened, setOpened] = useState<string | null>(null);
  const fields = useQuery(fieldsQuery(project.id));
  const coverage = useQuery(coverageQuery(project.id));
  const failed = fields.error ?? coverage.error;
  const retry = () => void Promise.all([fields, coverage].map((read) => read.isError && read.refetch()));
  const own = fields.data;
  const shown = own?.find(({ field }) => field === opened);
  return (
    <div className="flex flex-col gap-5">
      {failed !== null && <Failure error={failed} onRetry={retry} />}
      {(own !== undefined || fields.isPending) && (
        <Card>
          {own?.length === 0 ? (
            <Empty title={t("No custom fields yet")}>
              {t("Contact data that your app sends appears here as fields.")}
            </Empty>
          ) : (
            <Table
              label={t("Fields")}
              columns={columnsOf(setOpened, coverage.data ?? (coverage.isError ? null : undefined))}
              rows={own}
              rowKey={({ field }) => field}
            />
          )}
        </Card>
      )}
      {shown !== undefined && (
        <FieldDialog key={opened} project={project} of={shown} onClose={() => setOpened(null)} />
      )}
    </div>
  );
}

/** @param coverage undefined while loading, null if that failed */
function columnsOf(
  open: (field: string) => void,
  coverage: ReadonlyMap<string, number> | null | undefined,
): Array<Column<ContactField>> {
  return [
    {
      key: "name",
      head: t("Name"),
      cell: ({ field }) => (
        <button
          type="button"
          onClick={() => open(field)}
          className={`${ROW_LINK} block w-full truncate text-left`}
        >
          <bdi>{nameOf(field)}</bdi>
        </button>
      ),
    },
    { key: "type", head: t("Type"), width: "w-32", cell: ({ type }) => TYPE_NAMES[type] },
    {
      key: "coverage",
      head: t("Used by"),
      width: "w-36",
      align: "end",
      cell: ({ field }) => {
        if (coverage === undefined) return <Skeleton className="ml-auto h-4 w-12" />;
        return coverage === null ? "–" : formatShare(coverage.get(field) ?? 0);
      },
    },
  ];
}

interface FieldDialogProps {
  project: Project;
  of: ContactField;
  onClose: () => void;
}

function FieldDialog({ project, of, onClose }: FieldDialogProps) {
  const { field } = of;
  const [isDeleting, setDeleting] = useState(false);
  const asked = { projectId: project.id, params: { field } };
  const usage = useQuery(query(api.contacts.getFieldUsage, asked));
  const values = useQuery(query(api.contacts.listFieldValues, { ...asked, query: { limit: VALUES_SHOWN } }));
  if (isDeleting) return <DeleteDialog project={project} of={of} usage={usage.data} onClose={onClose} />;
  return (
    <Dialog title={nameOf(field)} open onClose={onClose}>
      {usage.isPending && <Skeleton className="h-24" />}
      {usage.isError && <Failure error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data !== undefined && (
        <p className="text-sm">
          {plural(usage.data.contactCount, "{n} contact has this field.", "{n} contacts have this field.")}
        </p>
      )}
      {usage.data !== undefined && (
        <FieldType projectId={project.id} field={of} hasValues={usage.data.contactCount > 0} />
      )}
      {(values.data?.values.length ?? 0) > 0 && (
        <>
          <h3 className="mt-4 text-sm font-medium">{t("Most common values")}</h3>
          <ul className="mt-1.5 flex flex-wrap gap-1.5">
            {values.data?.values.map((value) => (
              <li
                key={JSON.stringify(value)}
                className="max-w-full truncate rounded-sm bg-hover px-1.5 py-0.5 font-mono text-xs"
              >
                <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
      {values.isError && <Failure error={values.error} onRetry={() => void values.refetch()} />}
      {usage.data !== undefined && <UsedIn projectId={project.id} usage={usage.data} />}
      <div className="mt-5 flex justify-end gap-2">
        <Button look="danger" onClick={() => setDeleting(true)}>
          {t("Delete field")}
        </Button>
        <Button onClick={onClose}>{t("Close")}</Button>
      </div>
    </Dialog>
  );
}

function UsedIn({ projectId, usage }: { projectId: string; usage: Usage }) {
  const { usedInSegments, usedInCampaigns, usedInWorkflows } = usage;
  const isUnused = usedInSegments.length + usedInCampaigns.length + usedInWorkflows.length === 0;
  return (
    <>
      <h3 className="mt-4 text-sm font-medium">{t("Used in")}</h3>
      {isUnused && <p className="mt-1 text-sm text-soft">{t("Not used in any conditions.")}</p>}
      <ul className="mt-1 flex flex-col gap-1 text-sm">
        {usedInSegments.map(({ id, name }) => (
          <li key={id}>
            <Link
              to="/$projectId/segments/$segmentId"
              params={{ projectId, segmentId: id }}
              className="text-accent hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>{" "}
            <span className="text-faint">{t("Segment")}</span>
          </li>
        ))}
        {usedInCampaigns.map(({ id, name }) => (
          <li key={id}>
            <Link
              to="/$projectId/campaigns/$campaignId"
              params={{ projectId, campaignId: id }}
              className="text-accent hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>{" "}
            <span className="text-faint">{t("Campaign")}</span>
          </li>
        ))}
        {usedInWorkflows.map(({ id, name }) => (
          <li key={id}>
            <bdi>{name}</bdi> <span className="text-faint">{t("Workflow")}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function DeleteDialog({ project, of, usage, onClose }: FieldDialogProps & { usage: Usage | undefined }) {
  const { field } = of;
  const queries = useQueryClient();
  const toast = useToast();
  const [typed, setTyped] = useState("");
  const deleting = useMutation({
    mutationFn: () => call(api.contacts.deleteField, { projectId: project.id, params: { field } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: projectKey(project.id) });
      toast(t("Field deleted"), nameOf(field));
      onClose();
    },
  });
  const name = nameOf(field);
  const impact =
    usage === undefined
      ? ""
      : plural(usage.contactCount, "{n} contact loses its value.", "{n} contacts lose their value.");
  return (
    <Dialog
      title={t("Delete field {name}?", { name })}
      description={`${impact} ${t("Conditions that use it won't match any contacts. This can't be undone.")}`}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Type {name} to confirm", { name })}
        value={typed}
        onChange={setTyped}
        action={t("Delete field")}
        expected={name}
        asking={deleting}
        way={
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
        }
      />
    </Dialog>
  );
}
