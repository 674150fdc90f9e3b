// Creates a workflow with a name and the event that starts it, and opens it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { invalidateWorkflows } from "./workflow-queries.ts";

interface NewWorkflowProps {
  projectId: string;
  onClose: () => void;
}

export function NewWorkflowDialog({ projectId, onClose }: NewWorkflowProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [eventName, setEventName] = useState("");
  const creating = useMutation({
    mutationFn: () =>
      call(api.workflows.create, {
        projectId,
        body: { name, ...(eventName.trim() === "" ? {} : { eventName }) },
      }),
    onSuccess: async ({ id }) => {
      await invalidateWorkflows(queries, projectId);
      const params = { projectId, workflowId: id };
      await navigate({ to: "/$projectId/workflows/$workflowId", params, search: {} });
      onClose();
    },
  });
  const { error } = creating;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog title={t("New workflow")} open onClose={onClose}>
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
    </Dialog>
  );
}

interface EventFieldProps {
  projectId: string;
  label: string;
  help?: string;
  value: string;
  onChange: (name: string) => void;
  error: string | undefined;
}

/** A text field that suggests the names of past events. */
export function EventField({ projectId, label, help, value, onChange, error }: EventFieldProps) {
  const events = useQuery(query(api.events.names, { projectId }));
  const listId = useId();
  return (
    <>
      <Field
        label={label}
        help={help}
        list={listId}
        autoComplete="off"
        placeholder="signed-up"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        error={error}
      />
      <datalist id={listId}>
        {events.data?.names.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
