// Shows the progress of a job on the server.
import { useQuery, type QueryKey, type UseQueryOptions } from "@tanstack/react-query";
import { t } from "../../text/t.ts";
import { Progress } from "../../ui/progress.tsx";

const POLL_EVERY_MS = 1_000;
const WHOLE = 100;

interface Job {
  state: "waiting" | "active" | "completed" | "failed";
  progress: number;
}

/** Polls a job until it has ended. */
export function jobQuery<Known extends Job, Key extends QueryKey>(
  read: UseQueryOptions<Known, Error, Known, Key>,
): UseQueryOptions<Known, Error, Known, Key> {
  return {
    ...read,
    refetchInterval: ({ state: { data } }) =>
      data?.state === "completed" || data?.state === "failed" ? false : POLL_EVERY_MS,
  };
}

export function useJob<Known extends Job, Key extends QueryKey>(
  read: UseQueryOptions<Known, Error, Known, Key>,
) {
  return useQuery(jobQuery(read));
}

export function JobProgress({ label, job }: { label: string; job: Job }) {
  return (
    <div role="status">
      <Progress
        label={label}
        share={job.progress / WHOLE}
        {...(job.state === "waiting" ? { text: t("waiting to start") } : {})}
      />
    </div>
  );
}
