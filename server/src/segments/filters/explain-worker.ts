// Worker thread that explains filters for contacts.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { runTasks } from "../../platform/threads/task-worker.ts";
import { charactersToSearch, explainFilter } from "./evaluate-filter.ts";
import type { ExplainResult, ExplainTask } from "./explain-apart.ts";
import { readStored } from "./load-contacts.ts";

runTasks(({ filter, contact: stored, ...options }: ExplainTask): ExplainResult => {
  const contact = readStored(stored);
  if (charactersToSearch(filter, contact, options) > LIMITS.filterSearch.value) return { is: "too much" };
  return { is: "explained", explanation: explainFilter(filter, contact, options) };
});
