// A job of the server's that goes on whether or not anybody looks: how far it is. Before it: import-page.tsx, bulk-bar.tsx.
import { useQuery, type QueryKey } from "@tanstack/react-query";
import { t } from "../../text/t.ts";
import { Progress } from "../../ui/progress.tsx";

const LOOK_EVERY_MS = 1_000;
const WHOLE = 100;

interface Job {
  state: "waiting" | "active" | "completed" | "failed";
  progress: number;
}

/** Follows a job until it has ended. */
export function useJob<Known extends Job>(key: QueryKey, read: (signal: AbortSignal) => Promise<Known>) {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: ({ state: { data } }) =>
      data?.state === "completed" || data?.state === "failed" ? false : LOOK_EVERY_MS,
  });
}

export function JobProgress({ label, job }: { label: string; job: Job }) {
  return (
    <div role="status">
      <Progress
        label={label}
        share={job.progress / WHOLE}
        {...(job.state === "waiting" ? { text: t("waits for its turn") } : {})}
      />
    </div>
  );
}
