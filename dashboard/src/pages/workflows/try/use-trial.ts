// Simulates a workflow for one contact. Runs again when the workflow or the input changes.
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import type { ApiResponse } from "../../../api/address.ts";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { endpointKey } from "../../../api/query-key.ts";
import { query } from "../../../api/query.ts";
import { useDebounced } from "../../../ui/use-debounced.ts";
import { startEventOf } from "../start-event.ts";
import type { Step, Workflow } from "../workflow-queries.ts";

export type TrialResult = ApiResponse<typeof api.workflows.simulate>;
export type StepRun = TrialResult["steps"][number];
export type TrialMail = TrialResult["emails"][number];
type JsonObject = Record<string, unknown>;

const TYPING_PAUSE_MS = 400;
/** Bounds the calls of one trial, because a loop can wait again and again. */
const MOST_EVENTS = 20;

/** Returns the event that a step waits for, or null. */
function awaitedBy({ type, config }: Pick<Step, "type" | "config">): string | null {
  return type === "WAIT_FOR_EVENT" ? (config as StepConfig<"WAIT_FOR_EVENT">).eventName : null;
}

/** Returns the events that steps of the workflow wait for. */
export function awaitedEvents({ steps }: Pick<Workflow, "steps">): string[] {
  return [...new Set(steps.flatMap((step) => awaitedBy(step) ?? []))].toSorted();
}

/** Returns the object written as JSON, or null. */
function readObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : null;
  } catch {
    return null;
  }
}

interface Input {
  contactId: string;
  context: JsonObject;
  /** Events that happen as soon as a step waits for them. */
  eventNames: readonly string[];
  /** The share to take at each RANDOM_SPLIT, by step name. */
  splits: Readonly<Record<string, string>>;
}

function trialQuery(
  projectId: string,
  workflow: Workflow,
  { contactId, context, eventNames, splits }: Input,
) {
  const params = { id: workflow.id };
  const body = { contactId, context, splits };
  return queryOptions({
    queryKey: [
      ...endpointKey(api.workflows.simulate, { projectId, params, body }),
      eventNames,
      workflow.updatedAt,
    ],
    queryFn: async ({ signal }) => {
      const events: Array<{ name: string; at: string }> = [];
      let trial = await call(api.workflows.simulate, { projectId, params, body, signal });
      // Only a trial shows when a wait begins, so each event needs another one.
      while (events.length < MOST_EVENTS) {
        const event = nextEvent(trial.steps, workflow.steps, eventNames, events);
        if (event === null) break;
        events.push(event);
        const from = trial.startedAt;
        trial = await call(api.workflows.simulate, {
          projectId,
          params,
          body: { ...body, events, from },
          signal,
        });
      }
      return trial;
    },
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
}

/** Returns the event that ends the first wait without one, at the time when the wait begins. */
function nextEvent(
  runs: readonly StepRun[],
  steps: readonly Step[],
  eventNames: readonly string[],
  before: ReadonlyArray<{ name: string; at: string }>,
): { name: string; at: string } | null {
  for (const { stepId, branch, startedAt: at } of runs) {
    const step = steps.find(({ id }) => id === stepId);
    const name = step === undefined ? null : awaitedBy(step);
    if (name === null || branch === "event" || !eventNames.includes(name)) continue;
    if (!before.some((event) => event.name === name && event.at === at)) return { name, at };
  }
  return null;
}

/** The newest start event of a contact. */
export function lastEventQuery(projectId: string, eventName: string, contactId: string) {
  return query(api.events.list, { projectId, query: { eventName, contactId, limit: "1" } });
}

/** Returns the data of the newest start event, preferably of the contact. Undefined while loading. */
function useExample(projectId: string, event: string | undefined, contactId: string | null) {
  const eventName = event ?? "";
  const isAsked = event !== undefined && contactId !== null;
  const own = useQuery({
    ...lastEventQuery(projectId, eventName, contactId ?? ""),
    enabled: isAsked,
  });
  const hasNone = own.isError || own.data?.data.length === 0;
  const others = useQuery({
    ...query(api.events.list, { projectId, query: { eventName, limit: "1" } }),
    enabled: isAsked && hasNone,
  });
  if (!isAsked) return {};
  const { data, isPending } = hasNone ? others : own;
  return isPending ? undefined : (data?.data[0]?.data ?? {});
}

export type Trial = ReturnType<typeof useTrial>;

/** Holds the input of a trial and its result. @param contactId null until a contact is chosen */
export function useTrial(projectId: string, workflow: Workflow, contactId: string | null) {
  const example = useExample(projectId, startEventOf(workflow), contactId);
  const [edited, setText] = useState<string | null>(null);
  const [eventNames, setEventNames] = useState<readonly string[]>([]);
  const [splits, setSplits] = useState<Readonly<Record<string, string>>>({});
  const written = example === undefined ? "" : JSON.stringify(example, null, 2);
  const text = edited ?? written;
  const settled = useDebounced(edited, TYPING_PAUSE_MS) ?? written;
  const context = useMemo(() => readObject(settled), [settled]);
  const hasSteps = workflow.steps.some(({ type }) => type !== "TRIGGER");
  const result = useQuery({
    ...trialQuery(projectId, workflow, {
      contactId: contactId ?? "",
      context: context ?? {},
      eventNames,
      splits,
    }),
    enabled: contactId !== null && context !== null && hasSteps,
  });
  return {
    text,
    /** Null shows the example again. */
    setText,
    isBroken: example !== undefined && readObject(text) === null,
    eventNames,
    setEventNames,
    splits,
    setSplits,
    hasSteps,
    result,
  };
}
