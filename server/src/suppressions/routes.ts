// HTTP routes for the suppression list.
import * as contract from "@postloft/contract/suppressions.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { noContent, ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import { csv } from "../contacts/csv-response.ts";
import { PLAIN_IMPORT } from "../contacts/import/import-input.ts";
import { addImport, getImport, prepareApart } from "../contacts/import/imports.ts";
import { ADDRESS_FILE } from "../contacts/import/prepare-import.ts";
import { SUPPRESSION_IMPORT } from "./import-suppressions.ts";
import {
  addSuppressions,
  explainSuppression,
  listSuppressions,
  removeSuppression,
  SUPPRESSIONS,
  writeSuppressions,
} from "./suppressions.ts";

export function suppressionRoutes(dependencies: { database: Database }): Route[] {
  const { database } = dependencies;
  return [
    route(contract.listSuppressions, async ({ projectId, query }) =>
      ok(await listSuppressions(database, projectId, query, readPage(SUPPRESSIONS, query))),
    ),
    route(contract.addSuppressions, async (call) => {
      const { projectId, userId, body } = call;
      return call.commit(async (tx) => {
        const emails = [...new Set(body.emails)];
        const actor = userId ?? "key";
        const added = await addSuppressions(
          tx,
          emails.map((email) => ({ projectId, email, reason: "MANUAL", emailId: null, actor })),
        );
        const action = "suppressions.added";
        if (added > 0)
          await recordAudit(tx, [{ projectId, actor: actorOf(call), action, details: { added } }]);
        return ok({ added, known: emails.length - added });
      });
    }),
    route(contract.importSuppressions, async (call) => {
      const { projectId, userId, body } = call;
      const options = { ...PLAIN_IMPORT, dryRun: false, actor: userId ?? "key" };
      const task = { file: body.file, options, fileOptions: ADDRESS_FILE };
      const prepared = await prepareApart(projectId, task);
      return call.commit(async (tx) => {
        const jobId = await addImport(tx, projectId, SUPPRESSION_IMPORT, prepared);
        const action = "suppressions.imported";
        await recordAudit(tx, [{ projectId, actor: actorOf(call), action, details: { jobId } }]);
        return { status: 202, body: { message: "The import is queued.", jobId } };
      });
    }),
    route(contract.getSuppressionImport, async ({ projectId, params }) =>
      ok(await getImport(database, projectId, SUPPRESSION_IMPORT, params.jobId)),
    ),
    route(contract.exportSuppressions, async (call) => {
      const { projectId, query } = call;
      const entry = { projectId, actor: actorOf(call), action: "suppressions.exported" } as const;
      if (call.method === "GET") await transaction(database, (tx) => recordAudit(tx, [entry]));
      return csv("suppressions.csv", writeSuppressions(database, projectId, query));
    }),
    route(contract.explainSuppression, async ({ projectId, params }) =>
      ok(await explainSuppression(database, projectId, params.address)),
    ),
    route(contract.removeSuppression, async (call) => {
      const { projectId, params } = call;
      return call.commit(async (tx) => {
        await removeSuppression(tx, projectId, params.address);
        await recordAudit(tx, [{ projectId, actor: actorOf(call), action: "suppression.removed" }]);
        return noContent();
      });
    }),
  ];
}
