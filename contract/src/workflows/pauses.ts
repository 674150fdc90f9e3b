// Endpoints that pause and resume workflows.
import { endpoint } from "../endpoint.ts";
import { byWorkflow, workflow } from "./workflows.ts";

export const pauseWorkflow = endpoint({
  name: "workflows.pause",
  method: "POST",
  path: "/workflows/:id/pause",
  summary: "Pause a workflow",
  description:
    "Executions stop before their next step, within moments. Timers keep running, events are noticed, and contacts still enter. No effect on a paused workflow.",
  caller: "project",
  params: byWorkflow,
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const resumeWorkflow = endpoint({
  name: "workflows.resume",
  method: "POST",
  path: "/workflows/:id/resume",
  summary: "Resume a paused workflow",
  description:
    "Executions continue, the longest overdue first. Webhook calls that failed during the pause are made again. No effect on a workflow that isn't paused.",
  caller: "project",
  params: byWorkflow,
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const PAUSE_ENDPOINTS = [pauseWorkflow, resumeWorkflow] as const;
