// Queries for one email, polled until it has been sent, and for its content.
import { queryOptions } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";

const POLL_EVERY_MS = 2_000;
/** Statuses worth polling. After sending, only time and the recipient change an email. */
const MOVING = new Set(["QUEUED", "CLAIMED", "SENDING"]);

export type WholeEmail = ApiResponse<typeof api.emails.get>;

export function emailQuery(projectId: string, id: string) {
  return queryOptions({
    ...query(api.emails.get, { projectId, params: { id } }),
    refetchInterval: ({ state }) => (MOVING.has(state.data?.status ?? "") ? POLL_EVERY_MS : false),
  });
}

/** Returns the content as the recipient sees it. */
export function previewQuery(projectId: string, id: string) {
  return query(api.emails.preview, { projectId, params: { id } });
}
