// On a thread of its own: lints long contents. Before it: linter.ts. After it: lint-content.ts.
import { answerTasks } from "../platform/task-worker.ts";
import { lintContent } from "./lint-content.ts";

answerTasks(lintContent);
