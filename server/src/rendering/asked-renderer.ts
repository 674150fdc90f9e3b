// Template checks and previews that a caller waits for, on threads apart from the emails on their way out and fair between projects.
import { costlyWork, createFairQueue } from "../platform/background/fair-queue.ts";
import type { TemplateContent } from "./compile-content.ts";
import { createRenderer, type ContentProblem, type RenderJob, type RenderResult } from "./renderer.ts";

/** A check is bounded by the limits of a template to some tens of milliseconds of CPU, so a thread of its own needs no shorter deadline. */
const CHECKS = { atOnce: 4, atOncePerOwner: 2, waitingPerOwner: 1_000, waiting: 5_000, rests: false };
/** A preview may run until the deadline of a rendering and end its thread, so it counts as costly work. */
const PREVIEWS = { resource: "preview", waitingPerOwner: 20, waiting: 200 };

export interface AskedRenderer {
  /**
   * Returns what is wrong with a content, in every part; empty when it can be used.
   * @throws Refusal RATE_LIMIT_EXCEEDED when too many checks of the project wait.
   */
  check(projectId: string, content: TemplateContent): Promise<ContentProblem[]>;
  /** @throws Refusal RATE_LIMIT_EXCEEDED when too many previews of the project wait. */
  render(projectId: string, job: RenderJob): Promise<RenderResult>;
  close(): Promise<void>;
}

/** Its threads start when there is something to do. */
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
