// Explains filters on a separate thread, so that an expensive filter delays only its own project.
import type { Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../../platform/app-error.ts";
import { createTaskThread, TaskOverLimit } from "../../platform/threads/task-thread.ts";
import type { EvaluationOptions, FilterExplanation } from "./evaluate-filter.ts";
import type { StoredContact } from "./load-contacts.ts";

export interface ExplainTask extends EvaluationOptions {
  filter: Filter;
  contact: StoredContact;
}

export type ExplainResult = { is: "explained"; explanation: FilterExplanation } | { is: "too much" };

export interface Explainer {
  /**
   * @param load reads the contact, of any size, when the project's turn comes
   * @throws AppError VALIDATION_ERROR for `filters` if the work exceeds the limit, RATE_LIMIT_EXCEEDED if too many requests wait, and the
   * errors of `load`.
   */
  explain(projectId: string, load: () => Promise<ExplainTask>): Promise<FilterExplanation>;
  close(): Promise<void>;
}

const WAITING = { waitingPerOwner: 20, waiting: 200 };

export function createExplainer(deadlineMs = LIMITS.explainMs.value): Explainer {
  const thread = createTaskThread<ExplainTask, ExplainResult>({
    module: new URL("./explain-worker.ts", import.meta.url),
    deadlineMs,
    ...WAITING,
  });
  return {
    async explain(projectId, load) {
      const result = await thread.run(projectId, load).catch((error: unknown) => {
        if (!(error instanceof TaskOverLimit)) throw error;
        throw invalidField(
          "filters",
          "too_big",
          withValues("Took longer than {most} ms for this contact.", { most: deadlineMs }),
        );
      });
      if (result.is === "explained") return result.explanation;
      const most = LIMITS.filterSearch.value.toLocaleString("en");
      throw invalidField(
        "filters",
        "too_big",
        withValues(
          "Searches more than {most} characters of this contact in all conditions together. Use fewer conditions.",
          { most },
        ),
      );
    },
    close: () => thread.close(),
  };
}
