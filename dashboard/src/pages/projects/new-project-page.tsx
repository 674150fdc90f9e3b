// Creating a project: the first thing after an account. After it: the project's home, with its keys.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { createProject } from "../../api/endpoints.ts";
import { accountQuery, projectsQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Door } from "../account/sign-in-page.tsx";
import { useSignOut } from "../use-sign-out.ts";

export function NewProjectPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery);
  const [name, setName] = useState("");
  const creating = useMutation({
    mutationFn: () => call(createProject, { body: { name } }),
    onSuccess: async (project) => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      await navigate({ to: "/$projectId", params: { projectId: project.id } });
    },
  });
  return (
    <Door title={t("Name your project")} other={projects.data?.length === 0 && <OtherAccount />}>
      <OneFieldForm
        label={t("Project name")}
        placeholder="Acme"
        help={t("One per product or customer: contacts, keys and senders of projects are apart.")}
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
    </Door>
  );
}

/** Whoever signed up with an address that has an account has another one, and is told so by mail alone: it may not be theirs. */
function OtherAccount() {
  const account = useQuery(accountQuery);
  const signOut = useSignOut();
  if (!account.data) return null;
  return (
    <>
      {t("You are signed in as {email}.", { email: account.data.email })}{" "}
      {t(
        "If you expected projects here, they are in another account with this address, which has its own password.",
      )}{" "}
      <button
        type="button"
        className="cursor-pointer font-medium text-accent hover:underline"
        onClick={() => void signOut()}
      >
        {t("Sign out")}
      </button>
    </>
  );
}
