// The account page: email address, password, passkeys, second factor, sessions and deletion.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { accountQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { InstallationCard } from "../installation/installation-link.tsx";
import { DeleteAccountCard } from "./delete-account-card.tsx";
import { IdentitiesCard, useIdentities } from "./identities-card.tsx";
import { PasskeysCard } from "./passkeys-card.tsx";
import { SecondFactorCard } from "./second-factor-card.tsx";
import { SessionsCard } from "./sessions-card.tsx";

export function AccountPage() {
  const account = useQuery(accountQuery);
  const hasPassword = useIdentities().data?.hasPassword ?? true;
  return (
    <Page title={t("Your account")} about={account.data?.email ?? ""}>
      <div className="flex flex-col gap-5">
        {hasPassword ? <PasswordCard /> : <NoPasswordCard />}
        <PasskeysCard />
        <IdentitiesCard />
        {hasPassword && <SecondFactorCard />}
        <SessionsCard />
        {hasPassword && <AddressCard />}
        <InstallationCard />
        <DeleteAccountCard hasPassword={hasPassword} />
      </div>
    </Page>
  );
}

interface ChangeCardProps {
  title: string;
  about: string;
  action: string;
  field: { name: string; label: string; type: string; autoComplete: string };
  change: (body: { currentPassword: string; value: string }) => Promise<unknown>;
  /** Reports success. */
  onDone: (value: string) => void;
}

/** A form for a change that requires the current password. */
function ChangeCard({ title, about, action, field, change, onDone }: ChangeCardProps) {
  const [value, setValue] = useState("");
  const [currentPassword, setCurrentPassword] = useState("");
  const changing = useMutation({
    mutationFn: () => change({ currentPassword, value }),
    onSuccess: () => {
      onDone(value);
      setValue("");
      setCurrentPassword("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    changing.mutate();
  };
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{title}</h2>
        <p className="text-sm text-soft">{about}</p>
      </header>
      <form onSubmit={submit} noValidate className="grid max-w-200 gap-4 p-5 sm:grid-cols-2">
        {changing.isError && (
          <div className="empty:hidden sm:col-span-2">
            <Failure error={changing.error} atInputs={[field.name]} />
          </div>
        )}
        <Field
          label={field.label}
          type={field.type}
          autoComplete={field.autoComplete}
          value={value}
          onChange={({ target }) => setValue(target.value)}
          error={problemWith(changing.error, field.name)}
        />
        <Field
          label={t("Current password")}
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={({ target }) => setCurrentPassword(target.value)}
        />
        <div className="flex justify-end sm:col-span-2">
          <Button type="submit" busy={changing.isPending} disabled={value === "" || currentPassword === ""}>
            {action}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function PasswordCard() {
  const toast = useToast();
  return (
    <ChangeCard
      title={t("Password")}
      about={t("Changing it ends all other sessions.")}
      action={t("Change password")}
      field={{
        name: "newPassword",
        label: t("New password"),
        type: "password",
        autoComplete: "new-password",
      }}
      change={({ currentPassword, value }) =>
        call(api.users.changePassword, { body: { currentPassword, newPassword: value } })
      }
      onDone={() => toast(t("Password changed"), t("All other sessions ended."))}
    />
  );
}

/** Lets accounts created through an external service set a password by email, because other changes ask for a password. */
function NoPasswordCard() {
  const account = useQuery(accountQuery);
  const toast = useToast();
  const email = account.data?.email ?? "";
  const asking = useMutation({
    mutationFn: () => call(api.auth.requestPasswordReset, { body: { email } }),
    onSuccess: () => toast(t("Email sent"), email),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4">
        <div className="min-w-60 flex-1">
          <h2 className="font-semibold">{t("Password")}</h2>
          <p className="text-sm text-soft">
            {t(
              "Your account has no password. Set one to use two-factor authentication and change your email. This ends all sessions.",
            )}
          </p>
        </div>
        <Button busy={asking.isPending} disabled={email === ""} onClick={() => asking.mutate()}>
          {t("Email me a link")}
        </Button>
      </div>
    </Card>
  );
}

function AddressCard() {
  const toast = useToast();
  return (
    <ChangeCard
      title={t("Email address")}
      about={t("We'll email a confirmation link to the new address.")}
      action={t("Change email")}
      field={{ name: "newEmail", label: t("New email address"), type: "email", autoComplete: "email" }}
      change={({ currentPassword, value }) =>
        call(api.users.changeEmail, { body: { currentPassword, newEmail: value.trim() } })
      }
      onDone={(value) => toast(t("Email sent"), value.trim())}
    />
  );
}
