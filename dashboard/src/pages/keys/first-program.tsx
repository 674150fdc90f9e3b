// A program that sends the first mail, in the language one chooses, with the key and the sender of the project in it.
// Before it: keys-page.tsx, projects/first-start.tsx. After it: snippets.ts writes it.
import { useState } from "react";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { EXAMPLE_SENDER, NoSender, useSender } from "../domains/sender.tsx";
import { snippetsOf } from "./snippets.ts";

export function FirstProgram({ project }: { project: Project }) {
  const { secret } = project;
  const { domains, sender } = useSender(project);
  const programs = snippetsOf(location.origin, secret, sender ?? EXAMPLE_SENDER);
  const [language, setLanguage] = useState("curl");
  return (
    <>
      <Choices
        label={t("Language")}
        options={Object.keys(programs).map((name) => ({ value: name, label: name }))}
        value={language}
        onChoose={setLanguage}
        className="my-3"
      />
      {domains.isPending ? (
        <Skeleton className="h-40" />
      ) : (
        <Snippet
          code={programs[language] ?? ""}
          secret={secret}
          label={t("Copy: {what}", { what: language })}
        />
      )}
      {domains.isSuccess && sender === undefined && <NoSender projectId={project.id} />}
    </>
  );
}
