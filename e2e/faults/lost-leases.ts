// Whether programs kept the leases on what they sent: while they live and reach the database, none may be lost.
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
