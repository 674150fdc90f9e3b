// Shows processes, jobs and schedules.
import { t } from "../../text/t.ts";
import { formatAgo, formatNumber } from "../../ui/format.ts";
import { Badge, type Tone } from "../../ui/page.tsx";
import type { Column } from "../../ui/table.tsx";
import type { Installation, Job, Process, Schedule } from "./installation-query.ts";
import { TableCard } from "./part-card.tsx";

const STATES: Record<Job["state"], readonly [Tone, string]> = {
  waiting: ["neutral", t("Waiting")],
  active: ["good", t("Running")],
  completed: ["good", t("Completed")],
  failed: ["bad", t("Failed")],
};

function JobState({ job: { state, isLate } }: { job: Job }) {
  const [tone, text] = isLate ? (["bad", t("Late")] as const) : STATES[state];
  return <Badge tone={tone}>{text}</Badge>;
}

const JOB_COLUMNS: ReadonlyArray<Column<Job>> = [
  {
    key: "kind",
    head: t("Job"),
    width: "w-52",
    cell: ({ kind, id }) => (
      <code className="font-mono text-[0.92em]" title={id}>
        {kind}
      </code>
    ),
  },
  { key: "project", head: t("Project"), width: "w-48", cell: ({ project }) => <bdi>{project.name}</bdi> },
  { key: "state", head: t("State"), width: "w-28", cell: (job) => <JobState job={job} /> },
  {
    key: "failures",
    head: t("Failures"),
    width: "w-28",
    align: "end",
    cell: ({ failures }) => formatNumber(failures),
  },
  { key: "created", head: t("Created"), width: "w-44", cell: ({ createdAt }) => formatAgo(createdAt) },
  {
    key: "reason",
    head: t("Reason"),
    cell: ({ failedReason }) => (
      <span title={failedReason ?? undefined} lang="en">
        {failedReason ?? "–"}
      </span>
    ),
  },
];

const SCHEDULE_COLUMNS: ReadonlyArray<Column<Schedule>> = [
  { key: "name", head: t("Name"), cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  {
    key: "kind",
    head: t("Kind"),
    width: "w-32",
    cell: ({ kind }) => (kind === "CAMPAIGN" ? t("Campaign") : t("Workflow")),
  },
  { key: "project", head: t("Project"), width: "w-48", cell: ({ project }) => <bdi>{project.name}</bdi> },
  {
    key: "at",
    head: t("Next run"),
    width: "w-60",
    cell: ({ at, isLate }) => (
      <>
        {formatAgo(at)} {isLate && <Badge tone="bad">{t("Late")}</Badge>}
      </>
    ),
  },
];

const PROCESS_COLUMNS: ReadonlyArray<Column<Process>> = [
  {
    key: "host",
    head: t("Host"),
    cell: ({ host, id }) => (
      <code className="font-mono text-[0.92em]" title={id}>
        {host}
      </code>
    ),
  },
  { key: "roles", head: t("Roles"), width: "w-52", cell: ({ roles }) => roles.join(", ") },
  {
    key: "state",
    head: t("State"),
    width: "w-36",
    cell: ({ isAlive }) => (
      <Badge tone={isAlive ? "good" : "bad"}>{isAlive ? t("Alive") : t("Not responding")}</Badge>
    ),
  },
  { key: "version", head: t("Version"), width: "w-28", cell: ({ version }) => version },
  { key: "started", head: t("Started"), width: "w-44", cell: ({ startedAt }) => formatAgo(startedAt) },
  { key: "seen", head: t("Last seen"), width: "w-44", cell: ({ seenAt }) => formatAgo(seenAt) },
];

export function ProcessesCard({ processes }: { processes: Installation["processes"] }) {
  return (
    <TableCard
      title={t("Processes")}
      about={t("Crashed processes stay here for an hour.")}
      columns={PROCESS_COLUMNS}
      rows={processes}
      rowKey={({ id }) => id}
      empty={t("No processes")}
    />
  );
}

export function JobsCard({ jobs }: { jobs: Installation["jobs"] }) {
  return (
    <TableCard
      title={t("Jobs")}
      about={t("Open jobs, and those that failed within 24 hours.")}
      columns={JOB_COLUMNS}
      rows={jobs}
      rowKey={({ id }) => id}
      empty={t("No job is open.")}
    />
  );
}

export function SchedulesCard({ schedules }: { schedules: Installation["schedules"] }) {
  return (
    <TableCard
      title={t("Schedules")}
      columns={SCHEDULE_COLUMNS}
      rows={schedules}
      rowKey={({ id }) => id}
      empty={t("No campaign or workflow is scheduled.")}
    />
  );
}
