// Lists the projects of the installation, finds them, and suspends or enables one.
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call, problemWith } from "../../api/call.ts";
import { adminApi } from "../../api/admin-endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { formatDay, formatNumber } from "../../ui/format.ts";
import { Badge } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { installationQuery, type ListedProject } from "./installation-query.ts";
import { Note, PartCard } from "./part-card.tsx";

type Change = { project: ListedProject; isSuspension: boolean };

const CAPS = ["transactional", "campaigns", "workflows"] as const;

function capsOf({ caps }: ListedProject): string {
  const texts = CAPS.map((name) => (caps[name] === null ? "–" : formatNumber(caps[name])));
  return texts.every((text) => text === "–") ? "–" : texts.join(" / ");
}

function columnsFor(onChange: (change: Change) => void): ReadonlyArray<Column<ListedProject>> {
  return [
    {
      key: "name",
      head: t("Project"),
      cell: ({ name, disabled, removal }) => (
        <span title={name}>
          <bdi>{name}</bdi>{" "}
          {removal !== null ? (
            <Badge tone="warn">{t("Being reset or deleted")}</Badge>
          ) : (
            disabled && <Badge tone="bad">{t("Suspended")}</Badge>
          )}
        </span>
      ),
    },
    {
      key: "owner",
      head: t("Owner"),
      cell: ({ owner }) => <bdi title={owner ?? undefined}>{owner ?? "–"}</bdi>,
    },
    {
      key: "sent",
      head: t("Sent in 30 days"),
      width: "w-36",
      align: "end",
      cell: ({ sentLast30Days }) => formatNumber(sentLast30Days),
    },
    { key: "caps", head: t("Monthly caps"), width: "w-44", align: "end", cell: capsOf },
    {
      key: "rate",
      head: t("Emails per second"),
      width: "w-36",
      align: "end",
      cell: ({ sendingRate }) => (sendingRate === null ? "–" : formatNumber(sendingRate)),
    },
    { key: "created", head: t("Created"), width: "w-32", cell: ({ createdAt }) => formatDay(createdAt) },
    {
      key: "change",
      head: <span className="sr-only">{t("Actions")}</span>,
      width: "w-32",
      align: "end",
      cell: (project) =>
        project.removal === null && (
          <Button
            look="quiet"
            aria-label={
              project.disabled
                ? t("Enable {name}", { name: project.name })
                : t("Suspend {name}", { name: project.name })
            }
            onClick={() => onChange({ project, isSuspension: !project.disabled })}
          >
            {project.disabled ? t("Enable") : t("Suspend")}
          </Button>
        ),
    },
  ];
}

export function ProjectsCard() {
  const [search, setSearch] = useState("");
  const [change, setChange] = useState<Change | null>(null);
  const columns = useMemo(() => columnsFor(setChange), []);
  const projects = useQuery({
    ...query(adminApi.installation.projects, { query: search === "" ? {} : { search } }),
    placeholderData: keepPreviousData,
  });
  const found = projects.data;
  return (
    <PartCard
      title={t("Projects")}
      about={t("Caps are emails per month: transactional / campaigns / workflows.")}
      actions={<SearchBox label={t("Search projects")} value={search} onSearch={setSearch} />}
    >
      {projects.isError && <Failure error={projects.error} onRetry={() => void projects.refetch()} />}
      {found?.data.length === 0 ? (
        <Note>{search === "" ? t("No project exists yet.") : t("No results")}</Note>
      ) : (
        !projects.isError && (
          <Table
            label={t("Projects")}
            columns={columns}
            rows={found?.data}
            rowKey={({ id }) => id}
            isStale={projects.isPlaceholderData}
          />
        )
      )}
      {found !== undefined && found.total > found.data.length && (
        <Note>
          {t("{shown} of {total} projects. Search to find others.", {
            shown: found.data.length,
            total: found.total,
          })}
        </Note>
      )}
      {change !== null && <ChangeDialog {...change} onClose={() => setChange(null)} />}
    </PartCard>
  );
}

/** Asks for the reason, which the audit log of the project keeps. */
function ChangeDialog({ project, isSuspension, onClose }: Change & { onClose: () => void }) {
  const { id, name } = project;
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () =>
      call(isSuspension ? adminApi.installation.suspendProject : adminApi.installation.enableProject, {
        params: { id },
        body: { reason },
      }),
    onSuccess: async ({ changed }) => {
      await Promise.all(
        [resourceKey(adminApi.installation.projects), installationQuery.queryKey].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      );
      const done = isSuspension ? t("Project suspended") : t("Project enabled");
      toast(changed ? done : t("Nothing changed"), name);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isSuspension ? t("Suspend {name}?", { name }) : t("Enable {name}?", { name })}
      description={
        isSuspension
          ? t(
              "The project's email waits and its API returns errors. Only an admin of the installation can enable it.",
            )
          : t("We'll send the project's waiting email.")
      }
      action={isSuspension ? t("Suspend project") : t("Enable project")}
      look={isSuspension ? "danger" : "primary"}
      doing={{
        ...changing,
        error: problemWith(changing.error, "reason") === undefined ? changing.error : null,
      }}
      onClose={onClose}
    >
      <TextArea
        label={t("Reason")}
        help={t("At least {least} characters. Members of the project can read it in the audit log.", {
          least: LIMITS.enableReasonMinimum.value,
        })}
        rows={3}
        maxLength={LIMITS.enableReasonMaximum.value}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        error={problemWith(changing.error, "reason")}
      />
    </ConfirmDialog>
  );
}
