// Makes routes that only admins of the installation may call.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { Database } from "../platform/database/database.ts";
import { route, type Call, type ResponseOf, type Route } from "../platform/http/route.ts";
import type { User } from "../users/users.ts";
import { requireAdmin } from "./admins.ts";

/** Makes a route. Its handler also gets the account of the admin. */
export type AdminRoute = <const E extends Endpoint<"session">>(
  endpoint: E,
  handle: (call: Call<E>, admin: User) => Promise<ResponseOf<E>>,
) => Route;

/** Returns a function that makes routes. Each route first checks that the account administers the installation. */
export function adminRouteFor(database: Database, adminEmails: readonly string[]): AdminRoute {
  return (endpoint, handle) =>
    route(endpoint, async (call) =>
      handle(call, await requireAdmin(database, adminEmails, call.userId as string)),
    );
}
