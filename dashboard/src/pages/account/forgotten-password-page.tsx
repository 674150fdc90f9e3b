// Requests a password reset email. The page shows the same text whether or not the address has an account.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { SignedOutPage } from "./sign-in-page.tsx";

export function ForgottenPasswordPage() {
  const [email, setEmail] = useState("");
  const asking = useMutation({ mutationFn: () => call(api.auth.requestPasswordReset, { body: { email } }) });
  return (
    <SignedOutPage
      title={t("Reset your password")}
      other={
        <Link to="/sign-in" className="font-medium text-accent hover:underline">
          {t("Back to sign in")}
        </Link>
      }
    >
      {asking.isSuccess ? (
        <p role="status" className="text-soft">
          {t("If {email} has an account, we sent a link. The link is valid for one hour.", { email })}
        </p>
      ) : (
        <OneFieldForm
          label={t("Email")}
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          action={t("Send link")}
          asking={asking}
        />
      )}
    </SignedOutPage>
  );
}
