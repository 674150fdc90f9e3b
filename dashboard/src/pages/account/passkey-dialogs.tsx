// Dialogs that add, rename and remove a passkey.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { makePasskey } from "../../session/passkeys.ts";
import { t } from "../../text/t.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { deviceOf } from "./device-of.ts";

interface DialogProps {
  onClose: () => void;
}
interface OneProps extends DialogProps {
  id: string;
  name: string;
}

/** Runs a change, then refetches the passkeys and closes the dialog. */
function useChange<T>(change: () => Promise<T>, { said, onClose }: DialogProps & { said: string }) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.users.passkeys) });
      toast(said);
      onClose();
    },
  });
}

export function AddPasskeyDialog({ onClose }: DialogProps) {
  const [name, setName] = useState(() => deviceOf(navigator.userAgent));
  const adding = useChange(() => makePasskey(name), { said: t("Passkey added"), onClose });
  return (
    <Dialog
      title={t("Add passkey")}
      description={t(
        "Your browser asks where to save it, such as this device, your phone or a security key.",
      )}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Name")}
        value={name}
        onChange={setName}
        action={t("Continue")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}

export function RenamePasskeyDialog({ id, name: before, onClose }: OneProps) {
  const [name, setName] = useState(before);
  const renaming = useChange(
    () => call(api.users.renamePasskey, { params: { passkeyId: id }, body: { name } }),
    {
      said: t("Passkey renamed"),
      onClose,
    },
  );
  return (
    <Dialog title={t("Rename passkey")} open onClose={onClose}>
      <OneFieldForm
        label={t("Name")}
        value={name}
        onChange={setName}
        action={t("Save")}
        asking={renaming}
        onCancel={onClose}
      />
    </Dialog>
  );
}

export function RemovePasskeyDialog({ id, name, onClose }: OneProps) {
  const removing = useChange(() => call(api.users.removePasskey, { params: { passkeyId: id } }), {
    said: t("Passkey removed"),
    onClose,
  });
  return (
    <ConfirmDialog
      title={t("Remove passkey {name}?", { name })}
      description={t("This passkey no longer works. Remove it from your device too.")}
      action={t("Remove")}
      doing={removing}
      onClose={onClose}
    />
  );
}
