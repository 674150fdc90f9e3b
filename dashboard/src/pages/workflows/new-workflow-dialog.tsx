// Creates a workflow from scratch or from a starter, and opens it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { StartFrom } from "../../ui/start-from.tsx";
import { Failure } from "../../ui/states.tsx";
import { EventField } from "./event-field.tsx";
import { StarterForm } from "./starter-form.tsx";
import { STARTERS } from "./starters.ts";
import { invalidateWorkflows } from "./workflow-queries.ts";

export const SCRATCH = "scratch";
const SCRATCH_CHOICE = { key: SCRATCH, label: t("Scratch"), about: t("An empty workflow.") };

interface NewWorkflowProps {
  projectId: string;
  /** The key of a starter, or `SCRATCH`. */
  startWith: string;
  /** Whether the user has already chosen what to start with. */
  isChosen: boolean;
  onClose: () => void;
}

export function NewWorkflowDialog({ projectId, startWith, isChosen, onClose }: NewWorkflowProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [key, setKey] = useState(startWith);
  // The choice must not appear when the list gets its first workflow.
  const [hasChoice] = useState(!isChosen);
  const starter = STARTERS.find((one) => one.key === key);
  const open = async ({ id }: { id: string }) => {
    await invalidateWorkflows(queries, projectId);
    const params = { projectId, workflowId: id };
    await navigate({ to: "/$projectId/workflows/$workflowId", params, search: {} });
    onClose();
  };
  return (
    <Dialog
      title={t("New workflow")}
      {...(!hasChoice && starter !== undefined ? { description: `${starter.label}: ${starter.about}` } : {})}
      open
      onClose={onClose}
    >
      {hasChoice && <StartFrom choices={[SCRATCH_CHOICE, ...STARTERS]} chosen={key} onChoose={setKey} />}
      {starter === undefined ? (
        <FromScratch projectId={projectId} onCreated={open} onClose={onClose} />
      ) : (
        <StarterForm key={key} projectId={projectId} starter={starter} onCreated={open} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface FromScratchProps {
  projectId: string;
  onCreated: (workflow: { id: string }) => Promise<void>;
  onClose: () => void;
}

function FromScratch({ projectId, onCreated, onClose }: FromScratchProps) {
  const [name, setName] = useState("");
  const [eventName, setEventName] = useState("");
  const creating = useMutation({
    mutationFn: () =>
      call(api.workflows.create, {
        projectId,
        body: { name, ...(eventName.trim() === "" ? {} : { eventName }) },
      }),
    onSuccess: onCreated,
  });
  const { error } = creating;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      {creating.isError && <Failure error={error} atInputs={["name", "eventName"]} />}
      <Field
        label={t("Name")}
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
        error={problemWith(error, "name")}
      />
      <EventField
        projectId={projectId}
        label={t("Start event")}
        help={t("The event that lets contacts in. You can choose another trigger later.")}
        value={eventName}
        onChange={setEventName}
        error={problemWith(error, "eventName")}
      />
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button look="primary" type="submit" busy={creating.isPending} disabled={name.trim() === ""}>
          {t("Create workflow")}
        </Button>
      </div>
    </form>
  );
}
