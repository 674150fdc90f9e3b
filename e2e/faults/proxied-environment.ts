// Starts a world with programs that reach the database through a proxy, while the case connects directly.
import { startChaosProxy, throughProxy, type ChaosProxy } from "./chaos-proxy.ts";
import { startEnvironment, type Environment, type EnvironmentOptions } from "./environment.ts";

/** Close the world first, then the proxy. */
export async function startEnvironmentBehindProxy(
  options: EnvironmentOptions = {},
): Promise<{ environment: Environment; proxy: ChaosProxy }> {
  const state: { proxy?: ChaosProxy } = {};
  const environment = await startEnvironment({
    ...options,
    databaseUrl: async (url) => {
      state.proxy = await startChaosProxy(Number(new URL(url).port));
      return throughProxy(url, state.proxy);
    },
  });
  if (state.proxy === undefined) throw new Error("the world requested no database");
  return { environment, proxy: state.proxy };
}
