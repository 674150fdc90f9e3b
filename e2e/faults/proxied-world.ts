// Starts a world with programs that reach the database through a proxy, while the case connects directly.
import { startChaosProxy, throughProxy, type ChaosProxy } from "./chaos-proxy.ts";
import { startWorld, type World, type WorldOptions } from "./world.ts";

/** Close the world first, then the proxy. */
export async function startWorldBehindProxy(
  options: WorldOptions = {},
): Promise<{ world: World; proxy: ChaosProxy }> {
  const state: { proxy?: ChaosProxy } = {};
  const world = await startWorld({
    ...options,
    databaseUrl: async (url) => {
      state.proxy = await startChaosProxy(Number(new URL(url).port));
      return throughProxy(url, state.proxy);
    },
  });
  if (state.proxy === undefined) throw new Error("the world requested no database");
  return { world, proxy: state.proxy };
}
