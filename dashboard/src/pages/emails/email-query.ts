// Queries for one email, polled until it has been sent, and for its content.
import { queryOptions } from "@tanstack/react-query";
import { call, type ApiResponse } from "../../api/call.ts";
import { getEmail, previewEmail } from "../../api/endpoints.ts";

const POLL_EVERY_MS = 2_000;
/** Statuses worth polling. After sending, only time and the recipient change an email. */
const MOVING = new Set(["QUEUED", "CLAIMED", "SENDING"]);

export type WholeEmail = ApiResponse<NonNullable<typeof getEmail.endpoint>>;

export function emailQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "email", id],
    queryFn: ({ signal }) => call(getEmail, { projectId, params: { id }, signal }),
    refetchInterval: ({ state }) => (MOVING.has(state.data?.status ?? "") ? POLL_EVERY_MS : false),
  });
}

/** Returns the content as the recipient sees it. */
export function previewQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "email", id, "preview"],
    queryFn: ({ signal }) => call(previewEmail, { projectId, params: { id }, signal }),
  });
}
