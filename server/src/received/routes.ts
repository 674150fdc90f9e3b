// HTTP routes of received emails.
import * as contract from "@postloft/contract/received-emails.ts";
import { encodeFilename, FROM_OUTSIDE } from "../platform/http/foreign-files.ts";
import { readPage } from "../platform/http/page.ts";
import { noContent, ok, route, type Route } from "../platform/http/route.ts";
import {
  deleteReceived,
  getReceived,
  getReceivedAttachment,
  getReceivedRow,
  listReceived,
} from "./received-emails.ts";
import { readReply, type ReplyContext, type SendReply } from "./reply.ts";

export function receivedRoutes({ send, ...context }: ReplyContext & { send: SendReply }): Route[] {
  const { database } = context;
  return [
    route(contract.listReceived, async ({ projectId, query }) =>
      ok(await listReceived(database, projectId, query, readPage("received", query))),
    ),
    route(contract.getReceived, async ({ projectId, params }) =>
      ok(await getReceived(database, projectId, params.id)),
    ),
    route(contract.getRawReceived, async ({ projectId, params }) => ({
      ...ok((await getReceivedRow(database, projectId, params.id)).raw),
      headers: {
        "content-type": "message/rfc822",
        "content-disposition": 'attachment; filename="message.eml"',
        "content-security-policy": FROM_OUTSIDE,
      },
    })),
    route(contract.getReceivedAttachment, async ({ projectId, params }) => {
      const { filename, bytes } = await getReceivedAttachment(database, projectId, params);
      return {
        ...ok(Buffer.from(bytes)),
        headers: {
          "content-type": "application/octet-stream",
          "content-disposition": `attachment; filename*=UTF-8''${encodeFilename(filename)}`,
          "content-security-policy": FROM_OUTSIDE,
        },
      };
    }),
    route(contract.deleteReceived, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteReceived(tx, projectId, params.id);
        return noContent();
      }),
    ),
    route(contract.replyToReceived, async (call) =>
      ok(await send(call, await readReply(context, call.projectId, call.params.id, call.body))),
    ),
  ];
}
