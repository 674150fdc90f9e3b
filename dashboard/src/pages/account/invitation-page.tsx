// Opens an invitation, by creating an account or accepting it with an existing one.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { accountQuery, projectsQuery } from "../../session/queries.ts";
import { roleName } from "../../session/rights.ts";
import { OtherWays } from "../../session/other-ways.tsx";
import { SignInForm } from "../../session/sign-in-form.tsx";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { SignedOutPage } from "./sign-in-page.tsx";

const invitationRoute = getRouteApi("/invitations/$token");

export function InvitationPage() {
  const { token } = invitationRoute.useParams();
  const account = useQuery(accountQuery);
  const invitation = useQuery(query(api.invitations.read, { params: { token } }));
  const { data } = invitation;
  const title = data === undefined ? t("Your invitation") : t("Join {project}", { project: data.project });
  return (
    <SignedOutPage title={title}>
      {invitation.error !== null && (
        <Failure error={invitation.error} onRetry={() => void invitation.refetch()} />
      )}
      {invitation.isPending && <Skeleton className="h-24 w-full" />}
      {data !== undefined && (
        <>
          <p className="mb-5 text-soft">
            {t("You're invited as {email}. Your role: {role}.", {
              email: data.email,
              role: roleName(data.role),
            })}
          </p>
          {data.hasAccount && account.data == null && (
            <>
              <SignInForm onDone={() => void account.refetch()} />
              <OtherWays next={`/app/invitations/${token}`} />
            </>
          )}
          {data.hasAccount && account.data != null && <Accept token={token} />}
          {!data.hasAccount && (
            <>
              <MakeAccount token={token} />
              <OtherWays next={`/app/invitations/${token}`} />
            </>
          )}
        </>
      )}
    </SignedOutPage>
  );
}

/** Refetches the projects and opens the one just joined. */
function useEntering() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async ({ projectId }: { projectId: string }) => {
    await Promise.all(
      [accountQuery, projectsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })),
    );
    await navigate({ to: "/$projectId", params: { projectId } });
  };
}

function Accept({ token }: { token: string }) {
  const enter = useEntering();
  const accepting = useMutation({
    mutationFn: () => call(api.invitations.accept, { params: { token } }),
    onSuccess: enter,
  });
  return (
    <div className="flex flex-col gap-4">
      {accepting.error !== null && <Failure error={accepting.error} />}
      <Button look="primary" busy={accepting.isPending} onClick={() => accepting.mutate()}>
        {t("Accept invitation")}
      </Button>
    </div>
  );
}

function MakeAccount({ token }: { token: string }) {
  const [password, setPassword] = useState("");
  const enter = useEntering();
  const making = useMutation({
    mutationFn: () => call(api.invitations.signUp, { params: { token }, body: { password } }),
    onSuccess: enter,
  });
  return (
    <OneFieldForm
      label={t("Choose a password")}
      type="password"
      autoComplete="new-password"
      value={password}
      onChange={setPassword}
      action={t("Create account and join")}
      asking={making}
    />
  );
}
