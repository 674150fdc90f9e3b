// Checks and previews, what somebody waits for: apart from the mails on their way out, and fair between projects. What is quick
// goes at once; a project whose templates take long takes turns with its like on a thread of their own.
// Before it: templates/ checks and previews, campaigns/ and v1/ check. After it: renderer.ts, once for each lane.
import { costlyWork } from "../platform/costly-work.ts";
import { createTimeSpent } from "../platform/time-spent.ts";
import { createTurns } from "../platform/turns.ts";
import type { TemplateContent } from "./compile-content.ts";
import {
  createRenderer,
  type ContentProblem,
  type Renderer,
  type RenderJob,
  type RenderResult,
} from "./renderer.ts";

/** Wall time a step may take in the quick lane; nearly all take less than a millisecond. */
const QUICK_MS = 50;
/** Few of one project at once: the first one that takes long ends the thread, and those with it would, too. */
const QUICK_TURNS = { atOnce: 8, atOncePerOwner: 2, waitingPerOwner: 1_000, waiting: 5_000 };
const SLOW_TURNS = { atOnce: 1, budget: costlyWork, waitingPerOwner: 20, waiting: 200 };
/** What a step that was too slow counts for; while something is left of it, the project goes to the slow lane. */
const PENALTY_MS = 500;

/** @throws Refusal RATE_LIMIT_EXCEEDED when too much of the project waits. */
export interface AskedRenderer {
  /** What is wrong with a content, in every part; empty when it can be used. */
  check(projectId: string, content: TemplateContent): Promise<ContentProblem[]>;
  render(projectId: string, job: RenderJob): Promise<RenderResult>;
  close(): Promise<void>;
}

/** Its threads start when there is something to do. */
export function createAskedRenderer({ quickMs = QUICK_MS } = {}): AskedRenderer {
  const quick = createRenderer({
    threads: 1,
    startsAhead: false,
    triesMax: 1,
    renderTimeoutMs: quickMs,
    readTimeoutMs: quickMs,
  });
  const slow = createRenderer({ threads: 1, startsAhead: false, isBehind: true });
  const quickTurns = createTurns(QUICK_TURNS);
  const slowTurns = createTurns(SLOW_TURNS);
  const slowness = createTimeSpent();

  async function ask<Result>(
    projectId: string,
    work: (renderer: Renderer) => Promise<Result>,
    isTooSlow: (result: Result) => boolean,
  ): Promise<Result> {
    const isSlow = () => slowness.of(projectId) > 0;
    if (!isSlow()) {
      const result = await quickTurns.take(projectId, async () => (isSlow() ? null : work(quick)));
      if (result !== null && !isTooSlow(result)) return result;
      if (result !== null) slowness.add(projectId, PENALTY_MS);
    }
    return slowTurns.take(projectId, async () => {
      const beganAtMs = performance.now();
      const result = await work(slow);
      const tookMs = performance.now() - beganAtMs;
      if (tookMs > quickMs) slowness.add(projectId, tookMs);
      return result;
    });
  }

  return {
    check: async (projectId, content) =>
      hasMustaches(content)
        ? ask(
            projectId,
            (renderer) => renderer.check(content),
            (problems) => problems.some((problem) => problem.isTooSlow),
          )
        : quick.check(content),
    render: async (projectId, job) =>
      ask(
        projectId,
        async (renderer) => {
          const [result] = await renderer.render([job]);
          if (result === undefined) throw new Error("A job was not answered.");
          return result;
        },
        (result) => !result.ok && result.isTooSlow === true,
      ),
    async close() {
      await Promise.all([quick.close(), slow.close()]);
    },
  };
}

function hasMustaches({ subject, html, text }: TemplateContent): boolean {
  return [subject, html, text ?? ""].some((part) => part.includes("{{"));
}
