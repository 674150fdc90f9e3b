// The sign-in and sign-up form, used on its own page and in the dialog shown when a session ends.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call, CallError, problemWith } from "../api/call.ts";
import { api } from "../api/endpoints.ts";
import { t } from "../text/t.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { accountQuery } from "./queries.ts";

/** Copied from contract/src/limits/limits.ts to keep its code out of the bundle. The server enforces the limit. */
const PASSWORD_MINIMUM = 10;
const TOO_SHORT = t("At least {n} characters.", { n: PASSWORD_MINIMUM });

interface SignInFormProps {
  isNew?: boolean;
  /** The email address of the ended session, to prefill the form. */
  lastEmail?: string | undefined;
  onDone: () => void;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function SignInForm({ isNew = false, lastEmail = "", onDone }: SignInFormProps) {
  const queries = useQueryClient();
  const [email, setEmail] = useState(lastEmail);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [isCodeAsked, setCodeAsked] = useState(false);
  const signing = useMutation({
    mutationFn: async () => {
      if (!isNew)
        return call(api.auth.login, {
          body: { email, password, ...(code.trim() === "" ? {} : { code: code.trim() }) },
        });
      const response = await call(api.auth.signup, { body: { email, password } });
      // The server has been configured to send email since this page loaded.
      if (!("id" in response)) throw new CallError(response.message);
      return response;
    },
    onError: (error) => {
      if (error instanceof CallError && error.code === "SECOND_FACTOR_REQUIRED") setCodeAsked(true);
    },
    onSuccess: (account) => {
      queries.setQueryData(accountQuery.queryKey, account);
      onDone();
    },
  });
  /** Replaces either the password or the second-factor code. */
  const showing = useMutation({
    mutationFn: async () => {
      const { showPasskey } = await import("./passkeys.ts");
      const passkey = await showPasskey();
      return isCodeAsked
        ? call(api.auth.login, { body: { email, password, passkey } })
        : call(api.auth.passkeyLogin, { body: { passkey } });
    },
    onSuccess: (account) => {
      queries.setQueryData(accountQuery.queryKey, account);
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signing.mutate();
  };
  const { error } = signing;
  const inputs = isCodeAsked ? ["email", "password", "code"] : ["email", "password"];
  const problem = (name: string) => problemWith(error, name);
  const isAboutCode = error instanceof CallError && error.code === "SECOND_FACTOR_REQUIRED";
  return (
    <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
      {showing.error !== null && <Failure error={showing.error} />}
      {error !== null && !isAboutCode && <Failure error={error} atInputs={inputs} />}
      <Field
        label={t("Email")}
        type="email"
        autoComplete="username"
        autoFocus={lastEmail === ""}
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={problem("email")}
      />
      <Field
        label={t("Password")}
        type="password"
        autoComplete={isNew ? "new-password" : "current-password"}
        autoFocus={lastEmail !== ""}
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        {...(isNew ? { help: TOO_SHORT } : {})}
        error={
          isNew && password.length < PASSWORD_MINIMUM && problem("password") !== undefined
            ? TOO_SHORT
            : problem("password")
        }
      />
      {isCodeAsked && (
        <Field
          label={t("Code from the app or recovery code")}
          autoComplete="one-time-code"
          autoFocus
          value={code}
          onChange={(event) => setCode(event.target.value)}
          error={problem("code")}
        />
      )}
      <Button
        look="primary"
        type="submit"
        busy={signing.isPending}
        disabled={email === "" || password === ""}
      >
        {isNew ? t("Create account") : t("Sign in")}
      </Button>
      {!isNew && "PublicKeyCredential" in globalThis && (
        <Button busy={showing.isPending} onClick={() => showing.mutate()}>
          {isCodeAsked ? t("Use a passkey instead") : t("Sign in with a passkey")}
        </Button>
      )}
    </form>
  );
}
