// HTTP for the suppression list: endpoint → verb → answer.
import * as contract from "@postloft/contract/suppressions.ts";
import type { Database } from "../platform/database.ts";
import { noContent, ok, route, type Route } from "../platform/http-route.ts";
import { readPage } from "../platform/page.ts";
import { csv } from "../contacts/csv-answer.ts";
import { addImport, getImport, prepareImport } from "../contacts/import/imports.ts";
import { SUPPRESSION_IMPORT } from "./import-suppressions.ts";
import {
  addSuppressions,
  explainSuppression,
  listSuppressions,
  removeSuppression,
  SUPPRESSIONS,
  writeSuppressions,
} from "./suppressions.ts";

export function suppressionRoutes(dependencies: { database: Database; wakeJobs: () => void }): Route[] {
  const { database, wakeJobs } = dependencies;
  return [
    route(contract.listSuppressions, async ({ projectId, query }) =>
      ok(await listSuppressions(database, projectId, query, readPage(SUPPRESSIONS, query))),
    ),
    route(contract.addSuppressions, async ({ projectId, userId, body, commit }) =>
      commit(async (tx) => {
        const emails = [...new Set(body.emails)];
        const actor = userId ?? "key";
        const added = await addSuppressions(
          tx,
          emails.map((email) => ({ projectId, email, reason: "MANUAL", emailId: null, actor })),
        );
        return ok({ added, known: emails.length - added });
      }),
    ),
    route(contract.importSuppressions, async ({ projectId, userId, body, commit }) => {
      const prepared = await prepareImport(body.file.bytes, { dryRun: false, actor: userId ?? "key" });
      const answer = await commit(async (tx) => ({
        status: 202,
        body: {
          message: "The import is queued.",
          jobId: await addImport(tx, projectId, SUPPRESSION_IMPORT, prepared),
        },
      }));
      wakeJobs();
      return answer;
    }),
    route(contract.getSuppressionImport, async ({ projectId, params }) =>
      ok(await getImport(database, projectId, SUPPRESSION_IMPORT, params.jobId)),
    ),
    route(contract.exportSuppressions, async ({ projectId, query }) =>
      csv("suppressions.csv", writeSuppressions(database, projectId, query)),
    ),
    route(contract.explainSuppression, async ({ projectId, params }) =>
      ok(await explainSuppression(database, projectId, params.address)),
    ),
    route(contract.removeSuppression, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await removeSuppression(tx, projectId, params.address);
        return noContent();
      }),
    ),
  ];
}
