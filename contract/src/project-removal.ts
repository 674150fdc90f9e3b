// Resetting and deleting a project (spec §4.13): confirmed by its name, queued, in batches.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { pathId } from "./field.ts";
import { jobResponse, queuedJob } from "./job.ts";

const byId = z.object({ projectId: pathId });
const confirmation = z.object({
  confirm: z.string().describe("The exact name of the project, as confirmation."),
});

export const resetProject = endpoint({
  name: "projects.reset",
  method: "POST",
  path: "/users/@me/projects/:projectId/reset",
  summary: "Delete all data of a project",
  description:
    "Deletes contacts, events, emails, templates, segments, campaigns and workflows. Keeps members, keys, settings, domains, the suppression list, the counts for its reputation and the audit log. The project is disabled as soon as the call returns, so that nothing is sent or changed, and enabled again when the job is done. The data cannot be restored.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  body: confirmation,
  unknownFields: "refused",
  responses: { 202: queuedJob },
  errors: ["CONFLICT"],
});

export const deleteProject = endpoint({
  name: "projects.delete",
  method: "DELETE",
  path: "/users/@me/projects/:projectId",
  summary: "Delete a project with all its data",
  description:
    "The project is disabled as soon as the call returns, so that nothing is sent or changed. When the job is done, the project returns 404; its audit log is kept for the instance admin. It cannot be restored. Also possible for a disabled project.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  body: confirmation,
  unknownFields: "refused",
  responses: { 202: queuedJob },
  errors: ["CONFLICT"],
});

export const getRemoval = endpoint({
  name: "projects.removal",
  method: "GET",
  path: "/users/@me/projects/:projectId/removals/:jobId",
  summary: "Read the progress of a reset or deletion",
  description: "A deleted project returns 404, which means that the deletion is done.",
  caller: "member",
  params: byId.extend({ jobId: pathId }),
  responses: { 200: jobResponse(z.object({ deletedRows: z.int() })) },
  errors: ["JOB_NOT_FOUND"],
});
