// The sign-in and sign-up pages.
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { configQuery } from "../../session/queries.ts";
import { OtherWays } from "../../session/other-ways.tsx";
import { SignInForm } from "../../session/sign-in-form.tsx";
import { t } from "../../text/t.ts";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { Mark } from "../mark.tsx";

const HOME = "/app";
const signInRoute = getRouteApi("/sign-in");

export function SignInPage() {
  const { from } = signInRoute.useSearch();
  const next = from === undefined ? HOME : `${HOME}${from}`;
  const router = useRouter();
  const config = useQuery(configQuery);
  return (
    <SignedOutPage
      title={t("Sign in to Postloft")}
      other={
        <>
          <DoorLink to="/forgotten-password">{t("Forgot your password?")}</DoorLink>
          {config.data?.features.signups === true && (
            <span className="mt-2 block">
              {t("No account yet?")} <DoorLink to="/sign-up">{t("Create account")}</DoorLink>
            </span>
          )}
        </>
      }
    >
      <SignInForm onDone={() => router.history.push(next)} />
      <OtherWays next={next} />
    </SignedOutPage>
  );
}

export function SignUpPage() {
  const navigate = useNavigate();
  const provider = useQuery(configQuery).data?.features.email.provider;
  return (
    <SignedOutPage
      title={t("Create your account")}
      other={
        <>
          {t("Already have an account?")} <DoorLink to="/sign-in">{t("Sign in")}</DoorLink>
        </>
      }
    >
      {provider === undefined && <Skeleton className="h-40 w-full" />}
      {provider === "mailbox" && <SignInForm isNew onDone={() => void navigate({ to: "/" })} />}
      {provider !== undefined && provider !== "mailbox" && <SignUpByEmail />}
      <OtherWays next={HOME} />
    </SignedOutPage>
  );
}

/** Requests a sign-up link by email; the linked page creates the account. Responds the same way if the address already has one. */
function SignUpByEmail() {
  const [email, setEmail] = useState("");
  const asking = useMutation({ mutationFn: () => call(api.auth.signup, { body: { email } }) });
  if (asking.isSuccess)
    return (
      <p role="status" className="text-soft">
        {t("Check your inbox. We sent a link to {email} to choose your password.", { email })}
      </p>
    );
  return (
    <OneFieldForm
      label={t("Email")}
      type="email"
      autoComplete="username"
      value={email}
      onChange={setEmail}
      action={t("Continue")}
      asking={asking}
    />
  );
}

function DoorLink({
  to,
  children,
}: {
  to: "/sign-in" | "/sign-up" | "/forgotten-password";
  children: ReactNode;
}) {
  return (
    <Link to={to} className="font-medium text-accent hover:underline">
      {children}
    </Link>
  );
}

/** A narrow page for signed-out visitors. */
export function SignedOutPage({
  title,
  other,
  children,
}: {
  title: string;
  other?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Postloft`;
  }, [title]);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-88 flex-col px-5 pt-[16vh] pb-12">
      <Mark size={36} />
      <h1 className="mt-6 mb-6 text-xl font-semibold tracking-tight">{title}</h1>
      {children}
      <p className="mt-6 min-h-6 text-sm text-soft">{other}</p>
    </main>
  );
}
