// Shows the database, its largest tables, the disk and the settings.
import type { ReactNode } from "react";
import { plural, t } from "../../text/t.ts";
import { formatBytes, formatDay, formatNumber } from "../../ui/format.ts";
import type { Column } from "../../ui/table.tsx";
import type { Installation, LargeTable } from "./installation-query.ts";
import { Note, PartCard, TableCard } from "./part-card.tsx";

const UNKNOWN = "–";

const COLUMNS: ReadonlyArray<Column<LargeTable>> = [
  {
    key: "name",
    head: t("Table"),
    cell: ({ name }) => <code className="font-mono text-[0.92em]">{name}</code>,
  },
  { key: "bytes", head: t("Size"), width: "w-36", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
  {
    key: "growth",
    head: t("Per day"),
    width: "w-36",
    align: "end",
    cell: ({ bytesPerDay }) => (bytesPerDay === null ? UNKNOWN : signed(bytesPerDay)),
  },
  {
    key: "rows",
    head: t("Rows (estimated)"),
    width: "w-44",
    align: "end",
    cell: ({ rows }) => formatNumber(Math.round(rows)),
  },
];

const signed = (bytes: number) => `${bytes < 0 ? "−" : "+"}${formatBytes(Math.abs(bytes))}`;

export function StorageCard({ tables }: { tables: Installation["tables"] }) {
  return (
    <TableCard
      title={t("Largest tables")}
      about={t("With their indexes.")}
      columns={COLUMNS}
      rows={tables}
      rowKey={({ name }) => name}
      empty={t("No tables")}
    />
  );
}

/** Shows how fast the database and its disk grow, and when the disk will be full. */
export function GrowthCard({ installation: { growth, database } }: { installation: Installation }) {
  return (
    <PartCard title={t("Disk forecast")} {...(growth !== null && { about: spanOf(growth) })}>
      {growth === null ? (
        <Note>{t("Not enough history. The forecast appears after three days of measurements.")}</Note>
      ) : (
        <dl className="grid gap-x-8 gap-y-3 px-5 py-4 text-sm sm:grid-cols-2 lg:grid-cols-3">
          <Fact name={t("Disk full")}>{fullOf(growth, database)}</Fact>
          <Fact name={t("Disk usage per day")}>
            {growth.diskBytesPerDay === null ? UNKNOWN : signed(growth.diskBytesPerDay)}
          </Fact>
          <Fact name={t("Database growth per day")}>{signed(growth.databaseBytesPerDay)}</Fact>
        </dl>
      )}
    </PartCard>
  );
}

type Growth = NonNullable<Installation["growth"]>;

const spanOf = ({ days }: Growth) =>
  plural(days, "Based on the last {n} day.", "Based on the last {n} days.");

function fullOf({ diskFullAt, diskBytesPerDay }: Growth, database: Installation["database"]): string {
  if (database?.isElsewhere === true) return t("Unknown, because the database is on another server");
  if (diskBytesPerDay === null) return t("Unknown");
  if (diskFullAt !== null) return t("Around {day}", { day: formatDay(diskFullAt) });
  return diskBytesPerDay > 0 ? t("In more than ten years") : t("Never at this rate");
}

const onOrOff = (isOn: boolean) => (isOn ? t("On") : t("Off"));

export function FactsCard({ installation }: { installation: Installation }) {
  const { version, settings, database, disk } = installation;
  return (
    <PartCard
      title={t("Version and settings")}
      about={t("Settings are environment variables of the server.")}
    >
      <dl className="grid gap-x-8 gap-y-3 px-5 py-4 text-sm sm:grid-cols-2 lg:grid-cols-3">
        <Fact name={t("Version")}>{version}</Fact>
        <Fact name={t("Roles of this process")}>{settings.roles.join(", ")}</Fact>
        <Fact name={t("Sender of platform email")}>{settings.systemFrom}</Fact>
        <Fact name={t("Sign-ups")}>{onOrOff(settings.signUps)}</Fact>
        <Fact name={t("Email verification required")}>{onOrOff(settings.verificationRequired)}</Fact>
        <Fact name={t("Automatic suspension for bounces and complaints")}>
          {onOrOff(settings.reputationGuard)}
        </Fact>
        <Fact name={t("Database")}>
          {database === null
            ? UNKNOWN
            : t("PostgreSQL {version}, {size}", {
                version: database.version,
                size: formatBytes(database.bytes),
              })}
        </Fact>
        <Fact name={t("Database connections")}>
          {database === null
            ? UNKNOWN
            : t("{used} of {most}", { used: database.connections, most: database.maxConnections })}
        </Fact>
        <Fact name={t("Disk of DATA_DIR")}>
          {disk === null
            ? UNKNOWN
            : t("{free} free of {total}", {
                free: formatBytes(disk.freeBytes),
                total: formatBytes(disk.totalBytes),
              })}
        </Fact>
      </dl>
    </PartCard>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0 wrap-anywhere">
      <dt className="text-soft">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}
