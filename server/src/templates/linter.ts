// Lints message templates without blocking the main thread. Long ones run on a separate thread that alternates between projects.
import { createTaskThread, TaskOverLimit } from "../platform/threads/task-thread.ts";
import { lintContent, type LintedContent } from "./lint-content.ts";
import { warningOfPart, type Warning } from "./warnings.ts";

/** Maximum number of HTML characters linted on the main thread, which takes about a millisecond. Few emails have more. */
const SHORT_LENGTH = 20_000;
const WAITING = { waitingPerOwner: 20, waiting: 200 };
const DEADLINE_MS = 5_000;

export interface Linter {
  /** @throws AppError RATE_LIMIT_EXCEEDED when too many long message templates are waiting */
  lint(projectId: string, content: LintedContent): Promise<Warning[]>;
  close(): Promise<void>;
}

/** Creates the linter. Its thread starts with the first long message template. */
export function createLinter(): Linter {
  const thread = createTaskThread<LintedContent, Warning[]>({
    module: new URL("./lint-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return {
    async lint(projectId, content) {
      if (content.html.length + (content.text?.length ?? 0) <= SHORT_LENGTH) return lintContent(content);
      return thread.run(projectId, content).catch((error: unknown) => {
        if (error instanceof TaskOverLimit) return [tooMuchToCheck];
        throw error;
      });
    },
    close: () => thread.close(),
  };
}

const tooMuchToCheck = warningOfPart("body", "too_much_to_check");
