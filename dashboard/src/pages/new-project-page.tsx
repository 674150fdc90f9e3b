// Creating a project: the first thing after an account. After it: the project's home, with its keys.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, CallError } from "../api/call.ts";
import { createProject } from "../api/endpoints.ts";
import { projectsQuery } from "../session/queries.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { Door } from "./sign-in-page.tsx";

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
  const { error } = creating;
  const problem = error instanceof CallError ? error.fields[0]?.message : undefined;
  return (
    <Door title="Name your project">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          creating.mutate();
        }}
      >
        {error !== null && problem === undefined && <Failure error={error} />}
        <Field
          label="Project name"
          placeholder="Acme"
          help="One per product or customer: contacts, keys and senders of projects are apart."
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={problem}
        />
        <div className="flex gap-2">
          <Button
            look="primary"
            type="submit"
            className="flex-1"
            busy={creating.isPending}
            disabled={name.trim() === ""}
          >
            Create project
          </Button>
          {(projects.data?.length ?? 0) > 0 && (
            <Link to="/" className={buttonClass("quiet")}>
              Cancel
            </Link>
          )}
        </div>
      </form>
    </Door>
  );
}
