// Turns the second factor on and off and creates recovery codes.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { encode } from "uqr";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { CopyButton } from "../../ui/snippet.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";

interface DialogProps {
  onClose: () => void;
}

function useRefresh() {
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: resourceKey(api.users.secondFactor) }),
      queries.invalidateQueries({ queryKey: resourceKey(api.users.listSessions) }),
    ]);
}

interface AskedProps {
  /** The second-factor code field, and the button's label. */
  code?: { label: string };
  action: string;
  look?: "primary" | "danger";
  doing: {
    error: unknown;
    isPending: boolean;
    mutate: (input: { currentPassword: string; code: string }) => void;
  };
  onClose: () => void;
}

/** Asks for the password, and for a code if required. */
function PasswordForm({ code, action, look = "primary", doing, onClose }: AskedProps) {
  const [currentPassword, setCurrentPassword] = useState("");
  const [typed, setTyped] = useState("");
  return (
    <Form
      onSubmit={() => doing.mutate({ currentPassword, code: typed })}
      error={doing.error}
      buttons={
        <>
          <Button look="quiet" disabled={doing.isPending} onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button
            look={look}
            type="submit"
            busy={doing.isPending}
            disabled={currentPassword === "" || (code !== undefined && typed.trim() === "")}
          >
            {action}
          </Button>
        </>
      }
    >
      <Field
        label={t("Current password")}
        type="password"
        autoComplete="current-password"
        autoFocus
        value={currentPassword}
        onChange={({ target }) => setCurrentPassword(target.value)}
      />
      {code !== undefined && (
        <Field
          label={code.label}
          autoComplete="one-time-code"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
    </Form>
  );
}

interface FormProps {
  onSubmit: () => void;
  error: unknown;
  buttons: ReactNode;
  children: ReactNode;
}

function Form({ onSubmit, error, buttons, children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      {error !== null && <Failure error={error} />}
      {children}
      <div className="flex justify-end gap-2">{buttons}</div>
    </form>
  );
}

export function SwitchOnDialog({ onClose }: DialogProps) {
  const beginning = useMutation({
    mutationFn: ({ currentPassword }: { currentPassword: string }) =>
      call(api.users.beginSecondFactor, { body: { currentPassword } }),
  });
  const refresh = useRefresh();
  const confirming = useMutation({
    mutationFn: (code: string) => call(api.users.confirmSecondFactor, { body: { code } }),
    // Do not wait for the refetch, so that the codes appear immediately.
    onSuccess: () => void refresh(),
  });
  if (confirming.data !== undefined)
    return <CodesDialog codes={confirming.data.recoveryCodes} onClose={onClose} />;
  return (
    <Dialog
      title={t("Turn on two-factor authentication")}
      description={
        beginning.data === undefined
          ? t("You need an authenticator app on your phone or computer.")
          : t("Scan the code with your app, then enter the six-digit code.")
      }
      open
      onClose={onClose}
      isHeld={confirming.isPending}
    >
      {beginning.data === undefined ? (
        <PasswordForm action={t("Continue")} doing={beginning} onClose={onClose} />
      ) : (
        <ConfirmForm {...beginning.data} confirming={confirming} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface ConfirmFormProps extends DialogProps {
  secret: string;
  uri: string;
  confirming: { error: unknown; isPending: boolean; mutate: (code: string) => void };
}

function ConfirmForm({ secret, uri, confirming, onClose }: ConfirmFormProps) {
  const [code, setCode] = useState("");
  return (
    <Form
      onSubmit={() => confirming.mutate(code)}
      error={confirming.error}
      buttons={
        <>
          <Button look="quiet" disabled={confirming.isPending} onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={confirming.isPending} disabled={code.trim() === ""}>
            {t("Turn on")}
          </Button>
        </>
      }
    >
      <QrCode text={uri} />
      <div className="flex items-center gap-1 rounded-md border border-line bg-side py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-xs break-all">{secret}</code>
        <CopyButton text={secret} label={t("Copy secret")} />
      </div>
      <Field
        label={t("Code from the app")}
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
    </Form>
  );
}

/** Dark on light in both themes, because some cameras cannot read inverted codes. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("");
  return (
    <svg
      role="img"
      aria-label={t("QR code")}
      viewBox={`0 0 ${size} ${size}`}
      className="mx-auto w-48 rounded-md bg-white"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="black" />
    </svg>
  );
}

export function SwitchOffDialog({ onClose }: DialogProps) {
  const refresh = useRefresh();
  const toast = useToast();
  const ending = useMutation({
    mutationFn: (body: { currentPassword: string; code: string }) =>
      call(api.users.endSecondFactor, { body }),
    onSuccess: async () => {
      await refresh();
      toast(t("Two-factor authentication is off"));
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Turn off two-factor authentication?")}
      description={t("You'll only need your password to sign in.")}
      open
      onClose={onClose}
    >
      <PasswordForm
        code={{ label: t("Code from the app or recovery code") }}
        action={t("Turn off")}
        look="danger"
        doing={ending}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function NewCodesDialog({ onClose }: DialogProps) {
  const refresh = useRefresh();
  const renewing = useMutation({
    mutationFn: (body: { currentPassword: string; code: string }) =>
      call(api.users.renewRecoveryCodes, { body }),
    onSuccess: () => void refresh(),
  });
  if (renewing.data !== undefined)
    return <CodesDialog codes={renewing.data.recoveryCodes} onClose={onClose} />;
  return (
    <Dialog
      title={t("Create new recovery codes?")}
      description={t("Your old codes will stop working.")}
      open
      onClose={onClose}
      isHeld={renewing.isPending}
    >
      <PasswordForm
        code={{ label: t("Code from the app or recovery code") }}
        action={t("Create new codes")}
        doing={renewing}
        onClose={onClose}
      />
    </Dialog>
  );
}

function CodesDialog({ codes, onClose }: DialogProps & { codes: readonly string[] }) {
  const text = codes.join("\n");
  return (
    <Dialog
      title={t("Save your recovery codes")}
      description={t("You won't see these codes again. Each one signs you in once if you lose your app.")}
      open
      isHeld
    >
      <div className="flex items-start gap-1 rounded-md border border-line bg-side py-2 pr-1 pl-3">
        <ul className="grid flex-1 grid-cols-2 gap-x-4 gap-y-1 font-mono text-xs">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton text={text} label={t("Copy recovery codes")} />
      </div>
      <div className="mt-4 flex justify-end gap-2">
        <a
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
          download="postloft-recovery-codes.txt"
          className="inline-flex h-8 items-center rounded-md px-3 text-sm font-medium text-soft hover:bg-hover hover:text-ink"
        >
          {t("Download")}
        </a>
        <Button look="primary" onClick={onClose}>
          {t("I saved them")}
        </Button>
      </div>
    </Dialog>
  );
}
