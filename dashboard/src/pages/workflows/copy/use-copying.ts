// Copies steps to the clipboard and pastes them, by menu and by keyboard.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { MASKED } from "@postloft/contract/workflows/graph.ts";
import type { CopiedSteps } from "@postloft/contract/workflows/paste.ts";
import { call, problemOf } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { copyText } from "../../../ui/copy-text.ts";
import { useToast } from "../../../ui/toasts.tsx";
import { isTaken } from "../../palette/shortcuts.ts";
import { segmentsQuery } from "../../segments/segment-queries.ts";
import type { Plan, Way } from "../canvas/plan.ts";
import { useEdits } from "../edits/use-edits.tsx";
import { stepName } from "../steps/step-kinds.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { copyOf, readCopied, stepsFrom, type NamesToCopy } from "./copied-steps.ts";

/** Menus paste these steps, because a page may read the clipboard only after a question. They end with the tab. */
const STORED_AS = "postloft.copied-steps";

/** Returns the steps that were copied last in this tab. */
function lastCopied(): CopiedSteps | null {
  const copied = readCopied(sessionStorage.getItem(STORED_AS) ?? "");
  return copied === "newer" ? null : copied;
}

/** Returns the first way out of a step to which something can be added. */
function wayAfter(plan: Plan, stepId: string | undefined): Way | null {
  const [way] = plan.ways.get(stepId ?? "") ?? [];
  return way === undefined || way.isImplied ? null : way;
}

/** Returns the way or the step that has the focus, or else the selected step. */
function focusedPlace(plan: Plan, selectedId: string | undefined) {
  const { activeElement } = document;
  const key = activeElement?.closest<HTMLElement>("[data-way]")?.dataset["way"];
  const way = [...plan.ways.values()].flat().find((one) => one.key === key) ?? null;
  const stepId = activeElement?.closest<HTMLElement>("[data-step]")?.dataset["step"] ?? selectedId;
  return { stepId, way: way ?? wayAfter(plan, stepId) };
}

interface CopyingProps {
  projectId: string;
  workflow: Workflow;
  plan: Plan;
  selectedId: string | undefined;
  /** The names of templates by id. */
  templates: ReadonlyMap<string, string>;
  onPasted: (stepId: string) => void;
}

/** Copies and pastes steps of a workflow. Also handles the clipboard's events while no input has the focus. */
export function useCopying({ projectId, workflow, plan, selectedId, templates, onPasted }: CopyingProps) {
  const toast = useToast();
  const [copied, setCopied] = useState(lastCopied);
  const segments = useQuery(segmentsQuery(projectId));
  const pasting = usePasting(projectId, workflow.id, onPasted);
  const names: NamesToCopy = { templates, segments: segments.data ?? [] };
  /** Returns the text for the clipboard, or null for a TRIGGER. */
  const take = (steps: readonly Step[]): string | null => {
    if (steps.some(({ type }) => type === "TRIGGER")) {
      toast(t("The trigger can't be copied."));
      return null;
    }
    const taken = copyOf(steps, workflow.transitions, names);
    const text = JSON.stringify(taken, null, 2);
    sessionStorage.setItem(STORED_AS, text);
    setCopied(taken);
    toast(
      plural(steps.length, "{n} step copied", "{n} steps copied"),
      text.includes(MASKED) ? t("Credentials of webhooks aren't copied.") : {},
    );
    return text;
  };
  const paste = (text: string, way: Way | null) => {
    const read = readCopied(text);
    if (read === null) toast(t("The clipboard contains no steps."), t("Copy a step of a workflow first."));
    else if (read === "newer") toast(t("These steps come from a newer version of Postloft."));
    else if (way === null) toast(t("Nothing can follow here."), t("Select the step after which to paste."));
    else pasting.mutate({ copied: read, way });
  };
  useClipboardEvents({
    copy: (event) => {
      const { stepId } = focusedPlace(plan, selectedId);
      const step = workflow.steps.find(({ id }) => id === stepId);
      if (step === undefined) return;
      const text = take([step]);
      if (text !== null) event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
    },
    paste: (event) => {
      event.preventDefault();
      paste(event.clipboardData?.getData("text/plain") ?? "", focusedPlace(plan, selectedId).way);
    },
  });
  return {
    copied,
    copy: async (step: Step, { withNext }: { withNext: boolean }) => {
      const text = take(withNext ? stepsFrom(workflow, step.id) : [step]);
      if (text !== null) await copyText(text);
    },
    pasteInto: (way: Way) => {
      if (copied !== null) pasting.mutate({ copied, way });
    },
  };
}

function usePasting(projectId: string, id: string, onPasted: (stepId: string) => void) {
  const edits = useEdits();
  const toast = useToast();
  return useMutation({
    mutationFn: ({ copied, way }: { copied: CopiedSteps; way: Way }) => {
      const { transitionId, fromStepId, branch } = way;
      const place = transitionId === null ? { fromStepId, branch } : { transitionId };
      return call(api.workflows.pasteSteps, { projectId, params: { id }, body: { copied, ...place } });
    },
    onMutate: edits.begin,
    onSuccess: async ({ steps }, _input, before) => {
      const [first] = steps;
      if (first === undefined) return;
      await edits.end({ kind: "paste", name: stepName(first), count: steps.length }, before);
      onPasted(first.id);
    },
    onError: (error) => toast(t("Couldn't paste"), problemOf(error) ?? error.message),
  });
}

type Listeners = Record<"copy" | "paste", (event: ClipboardEvent) => void>;

/** Listens while no input has the focus and no text is selected. */
function useClipboardEvents(listeners: Listeners): void {
  const latest = useRef(listeners);
  useEffect(() => {
    latest.current = listeners;
  });
  useEffect(() => {
    const onEvent = (event: ClipboardEvent) => {
      if (isTaken(event) || getSelection()?.isCollapsed === false) return;
      latest.current[event.type === "copy" ? "copy" : "paste"](event);
    };
    addEventListener("copy", onEvent);
    addEventListener("paste", onEvent);
    return () => {
      removeEventListener("copy", onEvent);
      removeEventListener("paste", onEvent);
    };
  }, []);
}
