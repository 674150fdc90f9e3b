// Checks that programs keep their leases while they run and reach the database.
import { createApiClient } from "../api-client.ts";
import type { Program } from "../program.ts";

export async function faultsOfLeases(programs: readonly Program[]): Promise<string[]> {
  const lost = await Promise.all(
    programs.map(async ({ url }) => {
      const { body } = await createApiClient(url).call<string>("GET", "/metrics");
      return Number(/^postloft_sender_leases_lost_total (\d+)/m.exec(body)?.[1] ?? Number.NaN);
    }),
  );
  return lost.every((count) => count === 0) ? [] : [`leases were lost: ${lost.join(", ")}`];
}
