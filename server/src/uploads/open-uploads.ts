// Opens the image storage of an API process.
import type { Route } from "../platform/http/route.ts";
import type { Metrics } from "../platform/metrics.ts";
import { uploadRoutes } from "./routes.ts";
import { createStorage, type StorageSettings } from "./storage.ts";
import { startSweepingFiles } from "./sweep-files.ts";
import { createUploads, type UploadDependencies } from "./uploads.ts";

export interface OpenUploads {
  routes: Route[];
  close(): Promise<void>;
}

/** Also sweeps files without an owner, because this process shares the disk that they are on. */
export async function openUploads(
  options: Omit<UploadDependencies, "storage"> & { storageSettings: StorageSettings; metrics: Metrics },
): Promise<OpenUploads> {
  const storage = await createStorage(options.storageSettings);
  const sweeping = startSweepingFiles({ ...options, storage });
  const uploads = createUploads({ ...options, storage });
  return { routes: uploadRoutes(uploads), close: () => sweeping.stop() };
}
