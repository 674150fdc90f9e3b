// Asks for the mail with which a new password is set. Says the same whether the address has an account or not.
// Before it: sign-in-page.tsx. After it: the link in the mail, which opens a page without script (server/src/users/account-pages.ts).
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { call, CallError } from "../api/call.ts";
import { requestPasswordReset } from "../api/endpoints.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { Door } from "./sign-in-page.tsx";

export function ForgottenPasswordPage() {
  const [email, setEmail] = useState("");
  const asking = useMutation({ mutationFn: () => call(requestPasswordReset, { body: { email } }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    asking.mutate();
  };
  const { error } = asking;
  const [problem] = error instanceof CallError ? error.fields : [];
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
        <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
          {error !== null && problem === undefined && <Failure error={error} />}
          <Field
            label="Email"
            type="email"
            autoComplete="username"
            autoFocus
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            error={problem?.message}
          />
          <Button look="primary" type="submit" busy={asking.isPending} disabled={email === ""}>
            Send the mail
          </Button>
        </form>
      )}
    </Door>
  );
}
