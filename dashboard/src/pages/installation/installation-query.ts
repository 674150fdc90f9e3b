// The query of the installation page and the types of its parts.
import type { ApiResponse } from "../../api/address.ts";
import { adminApi } from "../../api/admin-endpoints.ts";
import { query } from "../../api/query.ts";

export type Installation = ApiResponse<typeof adminApi.installation.get>;
export type ListedProject = ApiResponse<typeof adminApi.installation.projects>["data"][number];
type Item<List> = NonNullable<List> extends readonly (infer One)[] ? One : never;
export type Queue = Item<Installation["queues"]>;
export type Job = Item<Installation["jobs"]>;
export type Schedule = Item<Installation["schedules"]>;
export type Process = Item<Installation["processes"]>;
export type LargeTable = Item<Installation["tables"]>;
export type ThrottledDomain = Item<Installation["throttledDomains"]>;
export type Finding = Item<Installation["findings"]>;

export const installationQuery = query(adminApi.installation.get);
