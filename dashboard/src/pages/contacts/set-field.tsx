// Sets a field of the selected contacts to one value, or removes it.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { RESERVED_KEYS } from "@postloft/contract/contact-file/field-names.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import type { ContactsList } from "./contact-list.ts";
import { fieldsQuery } from "./field-queries.ts";
import { FieldChoice, knownFields, NO_FIELD, type FieldDraft } from "./own-data/field-choice.tsx";
import { readDraft } from "./own-data/field-value.ts";
import { PROBLEMS } from "./own-data/field-words.ts";
import { ValueControl } from "./own-data/value-form.tsx";
import type { Selection } from "./selection.ts";
import { useSelectedCount } from "./use-selected-count.ts";

interface SetFieldProps {
  projectId: string;
  selection: Selection;
  list: Pick<ContactsList, "recount">;
  onStarted: (jobId: string) => void;
  onClose: () => void;
}

/** Returns the value to store, null to remove the field, or the problem. */
function read(
  { name, kind, text }: FieldDraft,
  isRemoving: boolean,
): { value: unknown } | { problem: string } {
  if (name === "") return { problem: t("Choose a field first.") };
  if (RESERVED_KEYS.has(name)) return { problem: t("This field name is reserved. Choose another name.") };
  if (isRemoving) return { value: null };
  const value = readDraft(text, kind);
  return "problem" in value ? { problem: PROBLEMS[value.problem] } : value;
}

/** Reads the value and queues the change. Each edit clears the problem. */
function useSetting({ projectId, selection, onStarted }: SetFieldProps) {
  const [draft, setDraft] = useState(NO_FIELD);
  const [isRemoving, setRemoving] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: (value: unknown) =>
      call(api.contacts.bulkUpdate, {
        projectId,
        body: { ...selection.body(), data: { [draft.name]: value } },
      }),
    onSuccess: ({ jobId }) => onStarted(jobId),
  });
  const clear = () => {
    setProblem(undefined);
    reset();
  };
  const save = () => {
    const wanted = read(draft, isRemoving);
    if ("problem" in wanted) setProblem(wanted.problem);
    else mutate(wanted.value);
  };
  return {
    draft,
    change: (next: Partial<FieldDraft>) => {
      setDraft({ ...draft, ...next });
      clear();
    },
    isRemoving,
    remove: (isRemoved: boolean) => {
      setRemoving(isRemoved);
      clear();
    },
    problem,
    saving: { error, isPending, mutate: save },
  };
}

export function SetField(props: SetFieldProps) {
  const { projectId, selection, list, onClose } = props;
  const fields = useQuery(fieldsQuery(projectId));
  const { draft, change, isRemoving, remove, problem, saving } = useSetting(props);
  const { said, afterCounting } = useSelectedCount(selection, list);
  const { error, isPending, mutate } = afterCounting(saving);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) mutate();
  };
  return (
    <Dialog title={t("Set field")} description={said} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {error !== null && <Failure error={error} />}
        {fields.isError && <Failure error={fields.error} onRetry={() => void fields.refetch()} />}
        <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 gap-y-2">
          <FieldChoice
            draft={draft}
            known={knownFields(fields.data)}
            isTaken={() => false}
            onChange={change}
          />
          {!isRemoving && (
            <div className="col-span-2">
              <ValueControl
                kind={draft.kind}
                isLong={draft.kind === "json"}
                draft={draft.text}
                onDraft={(text) => change({ text })}
                tied={{ "aria-label": t("Value") }}
              />
            </div>
          )}
        </div>
        {problem !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {problem}
          </p>
        )}
        <Checkbox
          label={t("Remove this field")}
          help={t("The contacts keep their other fields.")}
          checked={isRemoving}
          onChange={({ target }) => remove(target.checked)}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look={isRemoving ? "danger" : "primary"} type="submit" busy={isPending}>
            {isRemoving ? t("Remove field") : t("Set field")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
