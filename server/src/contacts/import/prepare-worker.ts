// Worker thread that validates import files as a whole.
import { AppError } from "../../platform/app-error.ts";
import { runTasks } from "../../platform/threads/task-worker.ts";
import type { Prepared, PrepareTask } from "./imports.ts";
import { prepareImport } from "./prepare-import.ts";

runTasks(async ({ file, options, fileOptions }: PrepareTask): Promise<Prepared> => {
  try {
    return { is: "prepared", prepared: await prepareImport(file, options, fileOptions) };
  } catch (error) {
    if (error instanceof AppError && error.fields !== null) return { is: "rejected", fields: error.fields };
    throw error;
  }
});
