// Watches, pauses and moves executions in the recorded example responses.
import type { Story } from "./answer-story.ts";

/** Pauses a workflow with a waiting execution, moves the execution to a new version, and undoes that. */
export async function watchAndMove(story: Story, step: { id: string; stepId: string }): Promise<void> {
  const { ask } = story;
  const params = { id: step.id };
  for (const pause of ["workflows.pause", "workflows.resume"]) await ask(pause, { params });
  await ask("executions.list", { params });
  await ask("workflows.stats", { params });
  await ask("workflows.updateStep", { params: step, body: { name: "Wait a little longer" } });
  await ask("workflows.previewMove", { params });
  const { jobId } = await ask<{ jobId: string }>("workflows.move", { params });
  const move = { params: { ...params, jobId } };
  interface Jobs {
    job: { state: string };
    undo: { state: string } | null;
  }
  await story.askUntil<Jobs>("workflows.getMove", move, ({ job }) => job.state === "completed");
  await ask("workflows.undoMove", move);
  await story.askUntil<Jobs>("workflows.getMove", move, ({ undo }) => undo?.state === "completed");
}
