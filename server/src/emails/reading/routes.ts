// HTTP routes for emails.
import * as contract from "@postloft/contract/emails.ts";
import {
  cancelEmail as cancelContract,
  rescheduleEmail as rescheduleContract,
} from "@postloft/contract/scheduled-emails.ts";
import type { Database } from "../../platform/database/database.ts";
import { ok, route, type Route } from "../../platform/http/route.ts";
import { readPage } from "../../platform/http/page.ts";
import type { ListEventsOfEmail } from "./email-timeline.ts";
import { findIdsOfMessage, readRecipient } from "./find-emails.ts";
import { getEmail, listEmails } from "./read-emails.ts";
import { readThrottledDomains, releaseDestinations } from "../throttling/throttled-domains.ts";
import { cancelEmail, rescheduleEmail } from "./schedule-emails.ts";
import { checkResolution, resolveEmail } from "./resolve-emails.ts";
import type { AddLateSent } from "../returned/returned-emails.ts";
import { listReturnedMessages } from "../returned/returned-messages.ts";

export interface EmailRouteDependencies {
  database: Database;
  listEventsOfEmail: ListEventsOfEmail;
  addLateSent: AddLateSent;
  addressOfUser: (database: Database, userId: string) => Promise<string>;
}

export function emailRoutes({ database, ...events }: EmailRouteDependencies): Route[] {
  return [
    route(contract.listEmails, async ({ projectId, query }) => {
      const {
        to,
        messageId,
        since,
        until,
        limit,
        cursor,
        withTotal = true,
        shortPages = false,
        ...plain
      } = query;
      const filter = {
        ...plain,
        to: to === undefined ? undefined : readRecipient(to),
        ids: messageId === undefined ? undefined : await findIdsOfMessage(database, projectId, messageId),
        since: since === undefined ? undefined : new Date(since),
        until: until === undefined ? undefined : new Date(until),
      };
      const request = { ...readPage("emails", { limit, cursor }), withTotal, isShort: shortPages };
      return ok(await listEmails(database, projectId, filter, request));
    }),
    route(contract.listPausedDestinations, async ({ projectId }) =>
      ok({ data: await readThrottledDomains(database, { projectId, campaignId: null }) }),
    ),
    route(contract.releaseListMail, async ({ projectId, body, commit }) =>
      commit(async (tx) => {
        const key = { projectId, campaignId: null };
        await releaseDestinations(tx, key, body.destination ?? null);
        return ok({ data: await readThrottledDomains(tx, key) });
      }),
    ),
    route(contract.getEmail, async ({ projectId, params }) =>
      ok(await getEmail(database, projectId, params.id, events.listEventsOfEmail)),
    ),
    route(contract.resolveEmail, async ({ projectId, params, body, userId, commit }) => {
      const by = userId === null ? null : await events.addressOfUser(database, userId);
      const said = { as: body.as, by };
      const checked = await checkResolution(database, events, projectId, params.id, said);
      return commit(async (tx) => ok(await resolveEmail(tx, events, projectId, params.id, checked)));
    }),
    route(rescheduleContract, async ({ projectId, params: { id }, body: { scheduledFor }, commit }) =>
      commit(async (tx) =>
        ok(await rescheduleEmail(tx, events.listEventsOfEmail, { projectId, id, scheduledFor })),
      ),
    ),
    route(cancelContract, async ({ projectId, params: { id }, commit }) =>
      commit(async (tx) => ok(await cancelEmail(tx, events.listEventsOfEmail, { projectId, id }))),
    ),
    route(contract.listReturnedMessages, async ({ projectId, params }) =>
      ok({ data: await listReturnedMessages(database, projectId, params.id) }),
    ),
  ];
}
