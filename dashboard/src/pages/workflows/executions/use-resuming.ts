// Retries or skips a step for all executions that failed there for one cause, in several calls if there are many.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { useToast } from "../../../ui/toasts.tsx";
import { invalidateWorkflows } from "../workflow-queries.ts";
import type { FailureGroup } from "./execution-status.ts";

const AT_ONCE = LIMITS.executionsAtOnce.value;

interface Resuming {
  projectId: string;
  workflowId: string;
  group: Pick<FailureGroup, "stepId" | "cause" | "count">;
  /** When the group was counted. Later failures are not resumed. */
  countedAt: string;
  action: "retryStep" | "skipStep";
  /** All failures of the workflow if not all were grouped, so that the cause may have more than its group. Otherwise null. */
  ungrouped: number | null;
}

/** Returns the mutation, and how many executions it has resumed, or null. */
export function useResuming({ projectId, workflowId, group, countedAt, action, ungrouped }: Resuming) {
  const queries = useQueryClient();
  const toast = useToast();
  const [resumed, setResumed] = useState<number | null>(null);
  const { stepId, cause, count: expected } = group;
  const mutation = useMutation({
    mutationFn: async () => {
      let done = 0;
      // There may be fewer executions by now, but not more, because of the time.
      for (let round = 0; round <= (ungrouped ?? expected) / AT_ONCE; round++) {
        const { count } = await call(api.executions[action], {
          projectId,
          params: { id: workflowId, stepId },
          query: { cause, failedUntil: countedAt },
        });
        done += count;
        if (count < AT_ONCE) break;
        setResumed(done);
      }
      return done;
    },
    onSuccess: (done) => {
      const left = ungrouped === null ? expected - done : 0;
      toast(
        plural(done, "{n} execution continues", "{n} executions continue"),
        left <= 0
          ? undefined
          : plural(
              left,
              "{n} couldn't. The contact was deleted, is inside again or has a newer failure here.",
              "{n} couldn't. The contacts were deleted, are inside again or have newer failures here.",
            ),
      );
    },
    onError: (error) => toast(t("That didn't work"), error.message),
    onSettled: () => {
      setResumed(null);
      return invalidateWorkflows(queries, projectId);
    },
  });
  return { ...mutation, resumed };
}
