// Asks for the mail with which a new password is set. Says the same whether the address has an account or not.
// Before it: sign-in-page.tsx. After it: the link in the mail, which opens a page without script (server/src/users/account-pages.ts).
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { requestPasswordReset } from "../api/endpoints.ts";
import { OneFieldForm } from "../ui/one-field-form.tsx";
import { Door } from "./sign-in-page.tsx";

export function ForgottenPasswordPage() {
  const [email, setEmail] = useState("");
  const asking = useMutation({ mutationFn: () => call(requestPasswordReset, { body: { email } }) });
  return (
    <Door
      title="Set a new password"
      other={
        <Link to="/sign-in" className="font-medium text-accent hover:underline">
          Back to sign in
        </Link>
      }
    >
      {asking.isSuccess ? (
        <p role="status" className="text-soft">
          If {email} has an account, a mail is on its way. Its link holds for half an hour.
        </p>
      ) : (
        <OneFieldForm
          label="Email"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          action="Send the mail"
          asking={asking}
        />
      )}
    </Door>
  );
}
