// Creates, downloads, tests and deletes backups of the installation.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { adminApi } from "../../api/admin-endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatBytes, formatInstant } from "../../ui/format.ts";
import { Badge } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Note, PartCard } from "./part-card.tsx";

type Backups = ApiResponse<typeof adminApi.installation.backups>;
type Backup = Backups["backups"][number];

const POLL_EVERY_MS = 1_000;

export function BackupsCard() {
  const [leaving, setLeaving] = useState<string | null>(null);
  const backups = useQuery({
    ...query(adminApi.installation.backups),
    refetchInterval: ({ state }) => (state.data?.running ? POLL_EVERY_MS : false),
  });
  const refresh = () => backups.refetch();
  const creating = useMutation({
    mutationFn: () => call(adminApi.installation.createBackup),
    onSettled: refresh,
  });
  const { mutate: test, ...testing } = useMutation({
    mutationFn: (name: string) => call(adminApi.installation.testBackup, { params: { name } }),
    onSettled: refresh,
  });
  const { data } = backups;
  const running = data?.running ?? null;
  const columns = useMemo(() => columnsFor({ running, onTest: test, onDelete: setLeaving }), [running, test]);
  return (
    <PartCard
      title={t("Backups")}
      about={t("Kept in DATA_DIR. Download them, because they are lost with this disk.")}
      actions={
        <Button
          busy={creating.isPending || running?.kind === "BACKUP"}
          disabled={running !== null}
          onClick={() => creating.mutate()}
        >
          {t("Create backup")}
        </Button>
      }
    >
      {[backups.error, creating.error, testing.error].map(
        (error) => error !== null && <Failure key={error.message} error={error} />,
      )}
      {data?.failure && (
        <Note>{t("The last backup failed: {reason}", { reason: data.failure.message })}</Note>
      )}
      {data?.backups.length === 0 ? (
        <Note>
          {running === null ? t("There is no backup on this machine.") : t("The backup is being written…")}
        </Note>
      ) : (
        <Table label={t("Backups")} columns={columns} rows={data?.backups} rowKey={({ name }) => name} />
      )}
      {data !== undefined && data.backups.length > 0 && (
        <Note>
          {t(
            "A backup contains addresses in clear text. To restore it you also need APP_SECRET, which is not in the file. A restore test loads it into a new database and deletes that.",
          )}
        </Note>
      )}
      {leaving !== null && <DeleteDialog name={leaving} onDone={refresh} onClose={() => setLeaving(null)} />}
    </PartCard>
  );
}

interface Actions {
  running: Backups["running"];
  onTest: (name: string) => void;
  onDelete: (name: string) => void;
}

function columnsFor({ running, onTest, onDelete }: Actions): ReadonlyArray<Column<Backup>> {
  return [
    { key: "created", head: t("Created"), cell: ({ createdAt }) => formatInstant(createdAt) },
    { key: "bytes", head: t("Size"), width: "w-28", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
    {
      key: "test",
      head: t("Restore test"),
      cell: ({ name, restoreTest }) =>
        running?.kind === "RESTORE_TEST" && running.name === name ? (
          t("Running…")
        ) : restoreTest === null ? (
          <span className="text-soft">{t("Not tested")}</span>
        ) : (
          <span title={restoreTest.message}>
            <Badge tone={restoreTest.works ? "good" : "bad"}>
              {restoreTest.works ? t("Works") : t("Failed")}
            </Badge>{" "}
            <span className="text-soft">{formatInstant(restoreTest.at)}</span>
          </span>
        ),
    },
    {
      key: "actions",
      head: <span className="sr-only">{t("Actions")}</span>,
      width: "w-80",
      align: "end",
      cell: ({ name, createdAt }) => {
        const when = formatInstant(createdAt);
        return (
          <span className="inline-flex flex-wrap justify-end gap-1">
            <Button
              look="quiet"
              disabled={running !== null}
              aria-label={t("Test the backup of {when}", { when })}
              onClick={() => onTest(name)}
            >
              {t("Test restore")}
            </Button>
            {/* A link streams to the disk, because a backup may not fit into memory. */}
            <a
              href={adminApi.installation.downloadBackup.path.replace(":name", name)}
              download
              className={buttonClass("quiet")}
              aria-label={t("Download the backup of {when}", { when })}
            >
              <Download size={15} aria-hidden />
            </a>
            <Button
              look="quiet"
              disabled={running?.name === name}
              aria-label={t("Delete the backup of {when}", { when })}
              onClick={() => onDelete(name)}
            >
              <Trash2 size={15} aria-hidden />
            </Button>
          </span>
        );
      },
    },
  ];
}

interface DeleteDialogProps {
  name: string;
  onDone: () => void;
  onClose: () => void;
}

function DeleteDialog({ name, onDone, onClose }: DeleteDialogProps) {
  const deleting = useMutation({
    mutationFn: () => call(adminApi.installation.deleteBackup, { params: { name } }),
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete this backup?")}
      description={t("{name} can't be recovered.", { name })}
      action={t("Delete backup")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
