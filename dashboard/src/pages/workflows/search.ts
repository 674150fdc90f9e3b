// Search parameters of the workflow pages.
import type { ExecutionStatus } from "@postloft/contract/workflows/graph.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import type { AddableType } from "./steps/step-kinds.ts";

type Raw = Record<string, unknown>;

export interface WorkflowsSearch {
  search?: string;
  status?: "active" | "disabled";
  folder?: string;
  tag?: string;
}

export interface WorkflowSearch {
  /** The steps unless given. */
  tab?: "executions";
  /** The open step. */
  step?: string;
  /** The type of a new step that is filled in, and the key of the way that it is for. */
  add?: AddableType;
  into?: string;
  /** Set while a contact tries the workflow; the contact's id once it is chosen. */
  try?: string;
  /** How the steps are shown; the canvas unless given. */
  view?: "outline";
  /** Filters of the executions. */
  status?: ExecutionStatus;
  at?: string;
  contact?: string;
  /** The cause of failures. */
  cause?: string;
}

const STATUSES = {
  RUNNING: true,
  WAITING: true,
  COMPLETED: true,
  EXITED: true,
  FAILED: true,
  CANCELLED: true,
} satisfies Record<ExecutionStatus, true>;

function isStatus(value: unknown): value is ExecutionStatus {
  return typeof value === "string" && Object.hasOwn(STATUSES, value);
}

function isAddable(value: unknown): value is AddableType {
  return typeof value === "string" && value !== "TRIGGER" && Object.hasOwn(STEP_NAMES, value);
}

const TEXTS = ["step", "into", "try", "at", "contact", "cause"] as const;

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** Parses the search parameters of the list and drops invalid ones. */
export function readWorkflowsSearch({ search, status, folder, tag }: Raw): WorkflowsSearch {
  const text = textOf(search);
  const folderName = textOf(folder);
  const tagName = textOf(tag);
  return {
    ...(text === undefined ? {} : { search: text }),
    ...(status === "active" || status === "disabled" ? { status } : {}),
    ...(folderName === undefined ? {} : { folder: folderName }),
    ...(tagName === undefined ? {} : { tag: tagName }),
  };
}

/** Parses the search parameters of a workflow and drops invalid ones. */
export function readWorkflowSearch({ tab, view, status, add, ...input }: Raw): WorkflowSearch {
  const texts = TEXTS.flatMap((name) => {
    const text = textOf(input[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...(tab === "executions" ? { tab } : {}),
    ...(view === "outline" ? { view } : {}),
    ...(isStatus(status) ? { status } : {}),
    ...(isAddable(add) ? { add } : {}),
    ...(Object.fromEntries(texts) as Pick<WorkflowSearch, (typeof TEXTS)[number]>),
  };
}
