// HTTP routes of workflows and their graphs.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { pasteSteps as pasteStepsEndpoint } from "@postloft/contract/workflows/paste.ts";
import * as pauses from "@postloft/contract/workflows/pauses.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as steps from "@postloft/contract/workflows/steps.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as contract from "@postloft/contract/workflows/workflows.ts";
import type { Database } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import { listConditionFields } from "./condition-fields.ts";
import { exportWorkflow, importWorkflow } from "./exchange.ts";
import { pauseWorkflow, resumeWorkflow } from "./executions/pauses.ts";
import { enableWithMembers } from "./include-members.ts";
import { listWorkflows } from "./listing.ts";
import { pasteSteps } from "./paste-steps.ts";
import {
  addStep,
  addTransition,
  deleteStep,
  deleteTransition,
  insertStep,
  updateStep,
  type WebhookDependencies,
} from "./steps.ts";
import {
  createWorkflow,
  deleteWorkflow,
  duplicateWorkflow,
  getWorkflow,
  updateWorkflow,
} from "./workflows.ts";
import { undoEdits } from "./undo.ts";
import { compareVersions, getVersion, listVersions, restoreVersion } from "./versions.ts";

/** Fills in the defaults of a page query. */
export function pageOf({ page = 1, pageSize = LIMITS.pageSizeDefault.value }: PageQuery) {
  return { page, pageSize };
}

interface PageQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

export function workflowRoutes(parts: { database: Database } & WebhookDependencies): Route[] {
  return [...recordRoutes(parts.database), ...graphRoutes(parts), ...versionRoutes(parts)];
}

function recordRoutes(database: Database): Route[] {
  return [
    route(contract.listWorkflows, async ({ projectId, query }) => {
      const { search, status, folder, tag, sort = "createdAt", dir } = query;
      const order = { by: sort, dir: dir ?? (sort === "name" ? "asc" : "desc") } as const;
      return ok(
        await listWorkflows(
          database,
          projectId,
          { search, status, folder, tag },
          { order, ...pageOf(query) },
        ),
      );
    }),
    route(contract.createWorkflow, async ({ projectId, body, commit }) =>
      commit(async (tx) => {
        const { eventName, triggerConfig, ...workflow } = body;
        const config = { ...triggerConfig, ...(eventName === undefined ? {} : { eventName }) };
        return created(await createWorkflow(tx, projectId, { ...workflow, triggerConfig: config }));
      }),
    ),
    route(questions.listWorkflowFields, async ({ projectId, query }) => {
      const typedFields = await listConditionFields(database, projectId, query.eventName);
      return ok({ fields: typedFields.map(({ field }) => field), typedFields, count: typedFields.length });
    }),
    route(contract.getWorkflow, async ({ projectId, params }) =>
      ok(await getWorkflow(database, projectId, params.id)),
    ),
    route(contract.updateWorkflow, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => {
        const { includeMembers = false, ...edit } = body;
        const update = includeMembers ? enableWithMembers : updateWorkflow;
        return ok(await update(tx, projectId, params.id, edit));
      }),
    ),
    route(pauses.pauseWorkflow, async ({ projectId, params, commit }) =>
      commit(async (tx) =>
        ok(await getWorkflow(tx, projectId, await pauseWorkflow(tx, projectId, params.id))),
      ),
    ),
    route(pauses.resumeWorkflow, async ({ projectId, params, commit }) =>
      commit(async (tx) =>
        ok(await getWorkflow(tx, projectId, await resumeWorkflow(tx, projectId, params.id))),
      ),
    ),
    route(contract.deleteWorkflow, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteWorkflow(tx, projectId, params.id);
        return noContent();
      }),
    ),
    route(contract.duplicateWorkflow, async ({ projectId, params, commit }) =>
      commit(async (tx) => created(await duplicateWorkflow(tx, projectId, params.id))),
    ),
  ];
}

function graphRoutes({ targets, vault }: WebhookDependencies): Route[] {
  const which = (call: { projectId: string; params: { id: string } }) => ({
    projectId: call.projectId,
    workflowId: call.params.id,
    targets,
    vault,
  });
  return [
    route(steps.createStep, async ({ body, commit, ...call }) =>
      commit(async (tx) => created(await addStep(tx, which(call), body))),
    ),
    route(steps.updateStep, async ({ body, commit, ...call }) =>
      commit(async (tx) => ok(await updateStep(tx, which(call), { stepId: call.params.stepId, edit: body }))),
    ),
    route(steps.deleteStep, async ({ query, commit, ...call }) =>
      commit(async (tx) => {
        const { stepId } = call.params;
        await deleteStep(tx, which(call), { stepId, splice: query.splice ?? false });
        return noContent();
      }),
    ),
    route(steps.createTransition, async ({ body, commit, ...call }) =>
      commit(async (tx) => {
        const input = { ...body, branch: steps.branchOf(body) };
        const { transition, isNew } = await addTransition(tx, which(call), input);
        return isNew ? created(transition) : ok(transition);
      }),
    ),
    route(steps.deleteTransition, async ({ commit, ...call }) =>
      commit(async (tx) => {
        await deleteTransition(tx, which(call), call.params.transitionId);
        return noContent();
      }),
    ),
    route(pasteStepsEndpoint, async ({ body, commit, ...call }) =>
      commit(async (tx) => created({ steps: await pasteSteps(tx, which(call), body) })),
    ),
    route(steps.insertStep, async ({ body, commit, ...call }) =>
      commit(async (tx) => {
        const { transitionId } = call.params;
        return created(await insertStep(tx, which(call), { transitionId, step: body }));
      }),
    ),
  ];
}

function versionRoutes({ database, targets, vault }: { database: Database } & WebhookDependencies): Route[] {
  return [
    route(versions.listVersions, async ({ projectId, params, query }) =>
      ok(await listVersions(database, projectId, params.id, pageOf(query))),
    ),
    route(versions.getVersion, async ({ projectId, params }) =>
      ok(await getVersion(database, projectId, params.id, params.version)),
    ),
    route(versions.compareVersions, async ({ projectId, params, query }) => {
      const { id, version } = params;
      return ok(await compareVersions(database, projectId, id, { version, other: query.with }));
    }),
    route(versions.restoreVersion, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await restoreVersion(tx, projectId, params.id, params.version))),
    ),
    route(versions.undoEdits, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => ok(await undoEdits(tx, { projectId, workflowId: params.id }, body))),
    ),
    route(versions.exportWorkflow, async ({ projectId, params }) =>
      ok(await exportWorkflow(database, projectId, params.id)),
    ),
    route(versions.importWorkflow, async ({ projectId, query, body, commit }) =>
      commit(async (tx) => {
        const input = { document: body, allowMissing: query.allowMissing ?? false };
        return created(await importWorkflow(tx, { projectId, targets, vault }, input));
      }),
    ),
  ];
}
