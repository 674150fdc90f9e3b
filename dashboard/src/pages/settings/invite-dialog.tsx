// Invites a person to a project. Existing accounts become members immediately; others receive a link.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { roleName } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { CopyButton } from "../../ui/snippet.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ConfirmAddress } from "../account/confirm-address.tsx";
import { invalidateMembers } from "./remove-member.tsx";

const ROLES = (["MEMBER", "ADMIN"] as const).map((value) => ({ value, label: roleName(value) }));

export function InviteDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<"ADMIN" | "MEMBER">("MEMBER");
  const [link, setLink] = useState<string | null>(null);
  const inviting = useMutation({
    mutationFn: () => call(api.members.add, { projectId, body: { email: email.trim(), role } }),
    onSuccess: async ({ status, invitation }) => {
      await invalidateMembers(queries, projectId);
      if (invitation?.link != null) return setLink(invitation.link);
      toast(status === "ADDED" ? t("Member added") : t("Invitation sent"), email.trim());
      return onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    inviting.mutate();
  };
  if (link !== null) return <LinkDialog email={email.trim()} link={link} onClose={onClose} />;
  return (
    <Dialog
      title={t("Invite member")}
      description={t("People with an account join immediately. Others get a link to create one.")}
      open
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {inviting.isError && <Failure error={inviting.error} atInputs={["email"]} />}
        <ConfirmAddress error={inviting.error} />
        <Field
          label={t("Email")}
          type="email"
          autoFocus
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          error={problemWith(inviting.error, "email")}
        />
        <Select
          label={t("Role")}
          options={ROLES}
          value={role}
          onChange={({ target }) => setRole(target.value === "ADMIN" ? "ADMIN" : "MEMBER")}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={inviting.isPending} disabled={email.trim() === ""}>
            {t("Invite")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function LinkDialog({ email, link, onClose }: { email: string; link: string; onClose: () => void }) {
  return (
    <Dialog
      title={t("Share this link")}
      description={t("Emails don't leave this machine, so send {email} this link yourself.", {
        email,
      })}
      open
    >
      <div className="flex items-center gap-1 rounded-md border border-line bg-side py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-xs break-all">{link}</code>
        <CopyButton text={link} label={t("Copy link")} />
      </div>
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={onClose}>
          {t("Done")}
        </Button>
      </div>
    </Dialog>
  );
}
