// HTTP routes of executions.
import * as contract from "@postloft/contract/executions.ts";
import * as failures from "@postloft/contract/workflows/failures.ts";
import * as moves from "@postloft/contract/workflows/moves.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import { created, ok, route, type Route } from "../../platform/http/route.ts";
import { isId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { contactExists } from "../../contacts/contacts.ts";
import { pageOf } from "../routes.ts";
import { cancelAll, cancelExecution, retryFailed, skipFailed } from "./end-executions.ts";
import { getExecution, listExecutions, requireWorkflow } from "./executions.ts";
import { explainEntry } from "./explain-entry.ts";
import { listFailures } from "./failures.ts";
import { requestMove } from "./move-executions.ts";
import { previewMove } from "./preview-move.ts";
import { replay } from "./replay.ts";
import { simulate, type SimulationDependencies } from "./simulate.ts";
import { startExecution, startForSegment } from "./start-executions.ts";
import { countSteps } from "./step-numbers.ts";
import { getMove, startUndoOfMove } from "./undo-move.ts";

export function executionRoutes(deps: SimulationDependencies): Route[] {
  return [
    ...startRoutes(),
    ...listRoutes(deps),
    ...endRoutes(),
    ...moveRoutes(deps),
    ...questionRoutes(deps),
  ];
}

function startRoutes(): Route[] {
  return [
    route(contract.startExecution, async ({ projectId, params, body, commit }) => {
      const { contactId, segmentId, context = {} } = body;
      const workflowId = params.id;
      return commit(async (tx) => {
        if (contactId !== undefined) {
          const id = await startExecution(tx, projectId, { workflowId, contactId, context });
          return created(await getExecution(tx, projectId, workflowId, id));
        }
        const jobId = await startForSegment(tx, projectId, {
          workflowId,
          segmentId: segmentId ?? "",
          context,
        });
        return {
          status: 202,
          body: { message: "The members of the segment enter in the background.", jobId },
        };
      });
    }),
  ];
}

function listRoutes({ database }: SimulationDependencies): Route[] {
  return [
    route(contract.listExecutions, async ({ projectId, params, query }) => {
      const { id: workflowId } = await requireWorkflow(database, projectId, params.id);
      const { status, stepId, contactId, cause, ...pages } = query;
      const filter = { workflowId, status, stepId, contactId, cause };
      const page = await listExecutions(database, projectId, filter, pageOf(pages));
      return ok({ executions: page.data, ...page });
    }),
    route(failures.listFailures, async ({ projectId, params }) =>
      ok(await listFailures(database, projectId, params.id)),
    ),
    route(contract.getExecution, async ({ projectId, params }) =>
      ok(await getExecution(database, projectId, params.id, params.executionId)),
    ),
    route(contract.listContactExecutions, async ({ projectId, params, query }) => {
      const { id: contactId } = params;
      if (!isId(contactId) || !(await contactExists(database, projectId, contactId)))
        throw new AppError("CONTACT_NOT_FOUND");
      return ok(await listExecutions(database, projectId, { contactId }, pageOf(query)));
    }),
    route(questions.countSteps, async ({ projectId, params }) =>
      ok(await countSteps(database, projectId, params.id)),
    ),
  ];
}

function endRoutes(): Route[] {
  return [
    route(contract.cancelExecution, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        const { id: workflowId, executionId: id } = params;
        await cancelExecution(tx, projectId, { workflowId, id });
        return ok(await getExecution(tx, projectId, workflowId, id));
      }),
    ),
    route(contract.cancelAllExecutions, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok({ cancelled: await cancelAll(tx, projectId, params.id) })),
    ),
    ...(
      [
        [contract.retryExecution, retryFailed],
        [contract.skipExecution, skipFailed],
      ] as const
    ).map(([endpoint, goOn]) =>
      route(endpoint, async ({ projectId, params, commit }) => {
        const { id: workflowId, executionId: id } = params;
        return commit(async (tx) => {
          await goOn(tx, projectId, { workflowId, by: { id } });
          return ok(await getExecution(tx, projectId, workflowId, id));
        });
      }),
    ),
    ...(
      [
        [contract.retryFailedAtStep, retryFailed],
        [contract.skipFailedAtStep, skipFailed],
      ] as const
    ).map(([endpoint, goOn]) =>
      route(endpoint, async ({ projectId, params, query, commit }) => {
        const by = { stepId: params.stepId, ...query };
        return commit(async (tx) => ok({ count: await goOn(tx, projectId, { workflowId: params.id, by }) }));
      }),
    ),
  ];
}

function moveRoutes({ database }: SimulationDependencies): Route[] {
  return [
    route(moves.previewMove, async ({ projectId, params }) =>
      ok(await previewMove(database, projectId, params.id)),
    ),
    route(moves.moveExecutions, async ({ projectId, params, body, commit }) => {
      const { stepIds, versions, executionIds, steps = {}, applyDelays = false, expectedUpdatedAt } = body;
      const request = {
        stepIds: stepIds ?? null,
        versions: versions ?? null,
        executionIds: executionIds ?? null,
        choices: steps,
        applyDelays,
        expectedUpdatedAt,
      };
      return commit(async (tx) => {
        const jobId = await requestMove(tx, projectId, params.id, request);
        return { status: 202, body: { message: "The executions move in the background.", jobId } };
      });
    }),
    route(moves.getMove, async ({ projectId, params }) =>
      ok(await getMove(database, projectId, { workflowId: params.id, jobId: params.jobId })),
    ),
    route(moves.undoMove, async ({ projectId, userId, params, commit }) =>
      commit(async (tx) => {
        const move = { workflowId: params.id, jobId: params.jobId };
        const jobId = await startUndoOfMove(tx, projectId, move, userId ?? "key");
        return { status: 202, body: { message: "The undo is queued.", jobId } };
      }),
    ),
  ];
}

function questionRoutes(deps: SimulationDependencies): Route[] {
  return [
    // Runs before the transaction, so that no connection is held during rendering.
    route(questions.explainEntry, async ({ projectId, params, body, commit }) => {
      const asked = { workflowId: params.id, contactId: body.contactId };
      const explained = await explainEntry(deps.database, projectId, asked);
      return commit(async () => ok(explained));
    }),
    route(questions.simulateWorkflow, async ({ projectId, params, body, commit }) => {
      const simulated = await simulate(deps, projectId, { ...body, workflowId: params.id });
      return commit(async () => ok(simulated));
    }),
    route(questions.replayWorkflow, async ({ projectId, params, body, commit }) => {
      const replayed = await replay(deps, projectId, { ...body, workflowId: params.id });
      return commit(async () => ok(replayed));
    }),
  ];
}
