// Adding one contact by address. After it: the contact's own page.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, CallError } from "../api/call.ts";
import { upsertContact } from "../api/endpoints.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { useToast } from "../ui/toasts.tsx";

export function NewContactDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const [email, setEmail] = useState("");
  const adding = useMutation({
    mutationFn: () => call(upsertContact, { projectId, body: { email } }),
    onSuccess: async ({ id, email: stored, _meta }) => {
      toast(_meta.isNew ? "Contact added" : "This contact was there already", stored);
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
      await navigate({ to: "/$projectId/contacts/$contactId", params: { projectId, contactId: id } });
    },
  });
  const { error } = adding;
  const problem = error instanceof CallError ? error.fields[0]?.message : undefined;
  return (
    <Dialog
      title="Add a contact"
      description="A new contact is subscribed: add people who agreed to hear from you."
      open
      onClose={onClose}
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          adding.mutate();
        }}
      >
        {error !== null && problem === undefined && <Failure error={error} />}
        <Field
          label="Address"
          type="email"
          placeholder="ada@example.com"
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={problem}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button look="primary" type="submit" busy={adding.isPending} disabled={email.trim() === ""}>
            Add contact
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
