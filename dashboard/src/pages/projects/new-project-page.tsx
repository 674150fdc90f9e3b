// Creates a project, the first step after sign-up.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { accountQuery, projectsQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { DeleteAccountDialog } from "../account/delete-account-card.tsx";
import { useIdentities } from "../account/identities-card.tsx";
import { SignedOutPage } from "../account/sign-in-page.tsx";
import { useSignOut } from "../use-sign-out.ts";

export function NewProjectPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery);
  const [name, setName] = useState("");
  const creating = useMutation({
    mutationFn: () => call(api.projects.create, { body: { name } }),
    onSuccess: async (project) => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      await navigate({ to: "/$projectId", params: { projectId: project.id } });
    },
  });
  return (
    <SignedOutPage title={t("Name your project")} other={projects.data?.length === 0 && <OwnAccount />}>
      <OneFieldForm
        label={t("Project name")}
        placeholder="Acme"
        help={t(
          "Use one project per product or client. Contacts, keys and domains are not shared between projects.",
        )}
        value={name}
        onChange={setName}
        action={t("Create project")}
        asking={creating}
        way={
          (projects.data?.length ?? 0) > 0 ? (
            <Link to="/" className={buttonClass("quiet")}>
              {t("Cancel")}
            </Link>
          ) : undefined
        }
      />
    </SignedOutPage>
  );
}

/** Offers sign-out and account deletion here, because the account page requires a project. */
function OwnAccount() {
  const account = useQuery(accountQuery);
  const signOut = useSignOut();
  const hasPassword = useIdentities().data?.hasPassword ?? true;
  const [isDeleting, setDeleting] = useState(false);
  if (!account.data) return null;
  return (
    <>
      {t("Signed in as {email}", { email: account.data.email })}
      <span className="mt-2 flex gap-4">
        <TextButton onClick={() => void signOut()}>{t("Sign out")}</TextButton>
        <TextButton onClick={() => setDeleting(true)}>{t("Delete account")}</TextButton>
      </span>
      {isDeleting && <DeleteAccountDialog hasPassword={hasPassword} onClose={() => setDeleting(false)} />}
    </>
  );
}

function TextButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      className="cursor-pointer font-medium text-accent hover:underline"
      onClick={onClick}
    >
      {children}
    </button>
  );
}
