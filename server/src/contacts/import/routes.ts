// HTTP routes for contact files: import, export, and the export of all data about one contact.
import { Readable } from "node:stream";
import * as contract from "@postloft/contract/contact-import.ts";
import * as undoContract from "@postloft/contract/import-undo.ts";
import { transaction, type Database } from "../../platform/database/database.ts";
import { readPage } from "../../platform/http/page.ts";
import { ok, route, type Route } from "../../platform/http/route.ts";
import { actorOf, recordAudit } from "../../audit/audit-log.ts";
import type { CampaignNames } from "../consent.ts";
import { csv } from "../csv-response.ts";
import {
  openContactExport,
  type ContactExecutions,
  type ContactReceived,
  type ContactSegments,
} from "../export-contact.ts";
import { writeContacts } from "../export-contacts.ts";
import { conditionsOf, type Membership } from "../list-contacts.ts";
import { invalidField } from "../../platform/app-error.ts";
import { listFieldNames } from "../fields/fields.ts";
import { IMPORT_KIND } from "./import-contacts.ts";
import { getUndo, startUndo, type UndoContext } from "./undo-import.ts";
import { addImport, getImport, IMPORTS, listImports, prepareApart } from "./imports.ts";
import { writeImportErrors } from "./write-errors.ts";

/** Checks the segment that an import adds to, provided by a later folder. */
export interface ImportSegments {
  /** @throws AppError SEGMENT_NOT_FOUND */
  isStaticSegment(database: Database, projectId: string, segmentId: string): Promise<boolean>;
}

const PREFIX = "data.";

// oxlint-disable-next-line max-lines-per-function -- a list of endpoints
export function contactFileRoutes(
  dependencies: { database: Database; undo: UndoContext } & Membership &
    ContactSegments &
    ContactReceived &
    ContactExecutions &
    CampaignNames &
    ImportSegments,
): Route[] {
  const { database } = dependencies;

  /** @throws AppError SEGMENT_NOT_FOUND, or VALIDATION_ERROR for a dynamic segment. */
  async function checkSegment(projectId: string, segmentId: string | undefined): Promise<void> {
    if (segmentId === undefined || (await dependencies.isStaticSegment(database, projectId, segmentId)))
      return;
    throw invalidField(
      "segmentId",
      "custom",
      "The members of a dynamic segment depend on its filters. Choose a static segment.",
    );
  }

  return [
    route(contract.importContacts, async ({ projectId, userId, query, body, commit }) => {
      const { dryRun = false, decimal = "point", resubscribe = false, segmentId, rowOffset = 0 } = query;
      await checkSegment(projectId, segmentId);
      const fields = await listFieldNames(database, projectId);
      const { input, bytes } = await prepareApart(projectId, {
        file: body.file,
        options: { dryRun, actor: userId ?? "key", decimal, resubscribe, segmentId: segmentId ?? null },
        fileOptions: {
          mapping: body.mapping ?? [],
          rowOffset,
          knownKeys: new Set(
            fields.flatMap(({ field, isCustom }) => (isCustom ? field.slice(PREFIX.length) : [])),
          ),
        },
      });
      return commit(async (tx) => {
        const prepared = { input: { ...input, isRecorded: true }, bytes };
        const jobId = await addImport(tx, projectId, IMPORT_KIND, prepared);
        const message = dryRun ? "The file is being checked." : "The import is queued.";
        return { status: 202, body: { message, jobId } };
      });
    }),
    route(contract.listImports, async ({ projectId, query }) =>
      ok(await listImports(database, projectId, IMPORT_KIND, readPage(IMPORTS, query))),
    ),
    route(contract.getImport, async ({ projectId, params }) =>
      ok(await getImport(database, projectId, IMPORT_KIND, params.jobId)),
    ),
    route(contract.getImportErrors, async ({ projectId, params }) => {
      const { id } = await getImport(database, projectId, IMPORT_KIND, params.jobId);
      return csv("import-errors.csv", writeImportErrors(database, projectId, id));
    }),
    route(undoContract.getImportUndo, async ({ projectId, params }) =>
      ok(await getUndo(database, projectId, params.jobId, dependencies.undo)),
    ),
    route(undoContract.undoImport, async ({ projectId, userId, params, commit }) =>
      commit(async (tx) => {
        const jobId = await startUndo(tx, projectId, params.jobId, userId ?? "key");
        return { status: 202, body: { message: "The undo is queued.", jobId } };
      }),
    ),
    route(contract.exportContacts, async (call) => {
      const { projectId, query } = call;
      const conditions = await conditionsOf(database, projectId, query, dependencies);
      const entry = { projectId, actor: actorOf(call), action: "contacts.exported" } as const;
      if (call.method === "GET") await transaction(database, (tx) => recordAudit(tx, [entry]));
      return csv("contacts.csv", writeContacts(database, projectId, conditions));
    }),
    route(contract.exportContact, async ({ projectId, params }) =>
      ok(Readable.from(await openContactExport(database, projectId, params.id, dependencies))),
    ),
  ];
}
