// Holds the edit of a step and saves it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { useToast } from "../../../ui/toasts.tsx";
import { isSame } from "../../../ui/typed.ts";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { useEdits } from "../edits/use-edits.tsx";
import { invalidateWorkflows, type Step } from "../workflow-queries.ts";
import type { Config, RenamedBranches } from "./step-config.ts";
import { stepName, type AddableType } from "./step-kinds.ts";

type AddableStep = Step & { type: AddableType };

const NOT_RENAMED: RenamedBranches = {};

/**
 * Returns the edit of a step. The inputs start again with the saved step whenever `taken` changes, because a saved branch has a new name.
 */
export function useStepEdit(projectId: string, step: AddableStep) {
  const [base, setBase] = useState(step);
  const [name, setName] = useState(step.name);
  const [note, setNote] = useState(step.note ?? "");
  const [config, setConfig] = useState<Config | null>(step.config);
  const [renamedBranches, setRenamedBranches] = useState(NOT_RENAMED);
  const [taken, setTaken] = useState(0);
  const restart = (saved: AddableStep) => {
    setConfig(saved.config);
    setRenamedBranches(NOT_RENAMED);
    setTaken(taken + 1);
  };
  const saving = useSaving(projectId, base, (saved) => {
    setBase(saved);
    if (renamedBranches !== NOT_RENAMED) restart(saved);
  });
  const isChanged = name !== base.name || note !== (base.note ?? "") || !isSame(config, base.config);
  useLeaveWarning(isChanged);
  const take = (saved: AddableStep) => {
    setBase(saved);
    setName(saved.name);
    setNote(saved.note ?? "");
    restart(saved);
    saving.reset();
  };
  useEffect(() => {
    if (!isChanged && step.updatedAt > base.updatedAt) take(step);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a step that was changed elsewhere or undone replaces the shown one
  }, [step.updatedAt]);
  return {
    base,
    name,
    setName,
    note,
    setNote,
    config,
    change: (changed: Config | null, renamed = NOT_RENAMED) => {
      setConfig(changed);
      setRenamedBranches(renamed);
    },
    taken,
    /** Discards the edit for a step that was changed elsewhere. */
    take,
    isChanged,
    saving,
    save: () => {
      if (config !== null)
        saving.mutate({
          name,
          note,
          config,
          ...(renamedBranches === NOT_RENAMED ? {} : { renamedBranches }),
        });
    },
  };
}

interface StepBody {
  name: string;
  note: string;
  config: Config;
  renamedBranches?: RenamedBranches;
}

function useSaving(projectId: string, base: AddableStep, onSaved: (saved: AddableStep) => void) {
  const queries = useQueryClient();
  const edits = useEdits();
  const toast = useToast();
  const { id: stepId, workflowId: id, updatedAt: expectedUpdatedAt } = base;
  return useMutation({
    mutationFn: ({ config, ...body }: StepBody) =>
      call(api.workflows.updateStep, {
        projectId,
        params: { id, stepId },
        body: { ...body, config: { ...config }, expectedUpdatedAt },
      }),
    onMutate: edits.begin,
    onSuccess: async (saved, _body, before) => {
      onSaved({ ...base, ...saved, type: base.type });
      toast(t("Step saved"), stepName(saved));
      await edits.end({ kind: "edit", name: stepName(saved) }, before);
    },
    onError: () => invalidateWorkflows(queries, projectId),
  });
}
