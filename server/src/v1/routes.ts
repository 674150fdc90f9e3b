// HTTP routes of /v1.
import * as contract from "@postloft/contract/v1.ts";
import { sendBatch as contractOfBatch } from "@postloft/contract/send-batch.ts";
import { verify, type Verification } from "@postloft/contract/verify.ts";
import type { Database } from "../platform/database/database.ts";
import type { GroupCommit } from "../platform/background/group-commit.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { VIA_PUBLIC_KEY, viaApi } from "../contacts/consent.ts";
import { getContact } from "../contacts/contacts.ts";
import type { SendReply } from "../received/reply.ts";
import type { RecentSends } from "./recent-sends.ts";
import type { BatchRequest, BatchResponse } from "./send-batch.ts";
import type { SendEndpoint } from "./send.ts";
import type { TrackResponse, TrackRequest } from "./track.ts";

type SendingCall = Parameters<SendReply>[0];

/** Returns the parts of a call that its emails need. */
function sendingParts({ projectId, userId, isTest, bodyBytes, keyed }: SendingCall) {
  return { projectId, isTest, bodyBytes, keyed, via: viaApi(userId) };
}

/** Returns the function that sends an email and notes its call, so that a failover can report the loss. */
export function createNotedSend(
  send: SendEndpoint["send"],
  recentSends: Pick<RecentSends, "note">,
): SendReply {
  return async (call, body) => {
    const { projectId, requestId, unknownFields } = call;
    const response = await send({ ...sendingParts(call), body, unknownFields });
    recentSends.note({ requestId, projectId, response });
    return response;
  };
}

export function v1Routes(endpoints: {
  database: Database;
  tracker: GroupCommit<TrackRequest, TrackResponse>;
  sendNoted: SendReply;
  sendBatch: (request: BatchRequest) => Promise<BatchResponse>;
  recentSends: Pick<RecentSends, "note">;
  verify: (email: string) => Promise<Verification>;
}): Route[] {
  const { database, tracker, sendNoted, sendBatch, recentSends } = endpoints;
  return [
    route(contract.track, async ({ projectId, userId, byPublicKey, body, bodyBytes, keyed }) => {
      const { email, event, subscribed, data } = body;
      const via = byPublicKey ? VIA_PUBLIC_KEY : viaApi(userId);
      const tracked = { projectId, email, event, subscribed, data };
      return ok(await tracker.submit({ ...tracked, bodyBytes, keyed, via }));
    }),
    route(contract.trackEvent, async ({ projectId, userId, body, bodyBytes, keyed }) => {
      const { event = body.name ?? "", contactId, subscribed, data } = body;
      const email = body.email ?? (await getContact(database, projectId, contactId ?? "")).email;
      const tracked = { projectId, email, event, subscribed, data };
      return ok(await tracker.submit({ ...tracked, bodyBytes, keyed, via: viaApi(userId) }));
    }),
    route(contract.send, async (call) => ok(await sendNoted(call, call.body))),
    route(contractOfBatch, async (call) => {
      const { projectId, requestId } = call;
      const { emails } = call.body;
      await call.countAs(emails.length);
      const response = await sendBatch({ ...sendingParts(call), emails, requestId });
      const sent = response.results.flatMap(({ data }) => data?.emails ?? []);
      recentSends.note({ requestId, projectId, response: { emails: sent } });
      return ok(response);
    }),
    route(verify, async ({ body, keyed, commit }) => {
      const response = ok(await endpoints.verify(body.email));
      // DNS is queried outside of a transaction, which is needed only to store the response.
      return keyed === null ? response : commit(async () => response);
    }),
  ];
}
