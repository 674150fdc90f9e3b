// Runs template checks and previews for waiting callers, on separate threads from outgoing email and fairly between projects.
import { costlyWork, createFairQueue } from "../platform/background/fair-queue.ts";
import type { TemplateContent } from "./compile-content.ts";
import { createRenderer, type ContentProblem, type RenderJob, type RenderResult } from "./renderer.ts";

/** Template limits bound a check to some tens of milliseconds of CPU, so the separate thread needs no shorter deadline. */
const CHECKS = { atOnce: 4, atOncePerOwner: 2, waitingPerOwner: 1_000, waiting: 5_000, rests: false };
/** A preview may run until the render deadline and end its thread, so previews count as costly work. */
const PREVIEWS = { resource: "preview", waitingPerOwner: 20, waiting: 200 };

export interface AskedRenderer {
  /**
   * Returns the problems of all parts of a message template; empty if the template is usable.
   * @throws AppError RATE_LIMIT_EXCEEDED when too many checks of the project are waiting.
   */
  check(projectId: string, content: TemplateContent): Promise<ContentProblem[]>;
  /** @throws AppError RATE_LIMIT_EXCEEDED when too many previews of the project are waiting. */
  render(projectId: string, job: RenderJob): Promise<RenderResult>;
  close(): Promise<void>;
}

/** Creates the renderer. Its threads start with the first task. */
export function createAskedRenderer(): AskedRenderer {
  const checker = createRenderer({ threads: 1, startsAhead: false });
  const previewer = createRenderer({ threads: 1, startsAhead: false, isBehind: true });
  const checks = createFairQueue(CHECKS);
  return {
    check: async (projectId, content) =>
      hasMustaches(content)
        ? checks.run({ owner: projectId }, () => checker.check(content))
        : checker.check(content),
    render: (projectId, job) =>
      costlyWork.run({ owner: projectId, ...PREVIEWS }, async () => {
        const [result] = await previewer.render([job]);
        if (result === undefined) throw new Error("The renderer did not return the result of a job.");
        return result;
      }),
    async close() {
      await Promise.all([checker.close(), previewer.close()]);
    },
  };
}

function hasMustaches({ subject, html, text }: TemplateContent): boolean {
  return [subject, html, text ?? ""].some((part) => part.includes("{{"));
}
