// Deletes the account after the user types its email address.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { accountQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";

export function DeleteAccountCard({ hasPassword }: { hasPassword: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4">
        <div className="min-w-60 flex-1">
          <h2 className="font-semibold">{t("Delete account")}</h2>
          <p className="text-sm text-soft">
            {t("You will leave all projects. Transfer or delete the projects you own first.")}
          </p>
        </div>
        <Button look="danger" onClick={() => setOpen(true)}>
          {t("Delete account")}
        </Button>
      </div>
      {isOpen && <DeleteAccountDialog hasPassword={hasPassword} onClose={() => setOpen(false)} />}
    </Card>
  );
}

interface DeleteAccountDialogProps {
  hasPassword: boolean;
  onClose: () => void;
}

export function DeleteAccountDialog({ hasPassword, onClose }: DeleteAccountDialogProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const email = useQuery(accountQuery).data?.email ?? "";
  const [confirm, setConfirm] = useState("");
  const [currentPassword, setCurrentPassword] = useState("");
  const deleting = useMutation({
    mutationFn: () =>
      call(api.users.delete, { body: { confirm, ...(hasPassword ? { currentPassword } : {}) } }),
    onSuccess: async () => {
      await navigate({ to: "/sign-in" });
      queries.clear();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    deleting.mutate();
  };
  const isReady = confirm.trim() === email && (!hasPassword || currentPassword !== "");
  return (
    <Dialog title={t("Delete your account?")} description={t("This can't be undone.")} open onClose={onClose}>
      <form noValidate className="flex flex-col gap-4" onSubmit={submit}>
        {deleting.isError && <Failure error={deleting.error} atInputs={["confirm"]} />}
        <Field
          label={t("Type {email} to confirm", { email })}
          autoFocus
          autoComplete="off"
          value={confirm}
          onChange={({ target }) => setConfirm(target.value)}
          error={problemWith(deleting.error, "confirm")}
        />
        {hasPassword && (
          <Field
            label={t("Current password")}
            type="password"
            autoComplete="current-password"
            value={currentPassword}
            onChange={({ target }) => setCurrentPassword(target.value)}
          />
        )}
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="danger" type="submit" busy={deleting.isPending} disabled={!isReady}>
            {t("Delete account")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
