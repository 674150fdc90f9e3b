// Emptying and deleting a project (spec §4.13): typed, queued, in batches.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { pathId } from "./field.ts";
import { jobAnswer, queuedJob } from "./job.ts";

const byId = z.object({ projectId: pathId });
const confirmation = z.object({
  confirm: z.string().describe("The name of the project, exactly: what is typed to say that it is meant."),
});

export const resetProject = endpoint({
  name: "projects.reset",
  method: "POST",
  path: "/users/@me/projects/:projectId/reset",
  summary: "Wipe all data of a project",
  description:
    "Contacts, events, mails, templates, segments, campaigns, workflows: everything but members, keys, settings, domains, the suppression list, the counts it is judged by and the audit log. From the answer on the project is disabled: nothing is sent or changed. It is enabled again when the job is done. Nothing brings the data back.",
  caller: "member",
  leastRole: "ADMIN",
  params: byId,
  body: confirmation,
  unknownFields: "refused",
  answers: { 202: queuedJob },
  errors: ["CONFLICT"],
});

export const deleteProject = endpoint({
  name: "projects.delete",
  method: "DELETE",
  path: "/users/@me/projects/:projectId",
  summary: "Delete a project with all its data",
  description:
    "From the answer on the project is disabled: nothing is sent or changed. When the job is done there is no such project any more (404); its audit log is kept for whoever runs the installation. Nothing brings it back. A disabled project may do so too.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: byId,
  body: confirmation,
  unknownFields: "refused",
  answers: { 202: queuedJob },
  errors: ["CONFLICT"],
});

export const getRemoval = endpoint({
  name: "projects.removal",
  method: "GET",
  path: "/users/@me/projects/:projectId/removals/:jobId",
  summary: "Ask how far a reset or a deletion is",
  description: "A project that is deleted answers 404: it is done.",
  caller: "member",
  params: byId.extend({ jobId: pathId }),
  answers: { 200: jobAnswer(z.object({ deletedRows: z.int() })) },
  errors: ["JOB_NOT_FOUND"],
});
