// Shows code that sends the first email in a chosen language, with the project's sender and the key you may see.
import { useState } from "react";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { EXAMPLE_SENDER, NoSender, useSender } from "../domains/sender.tsx";
import { snippetsOf } from "./snippets.ts";

/** Placeholder in code samples for members, who cannot see the secret key. */
const OWN_KEY = "YOUR_SCOPED_KEY";

export function FirstProgram({ project }: { project: Project }) {
  const { secret } = project;
  const key = secret ?? OWN_KEY;
  const { domains, sender } = useSender(project);
  const programs = snippetsOf(location.origin, key, sender ?? EXAMPLE_SENDER);
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
          {...(secret === null ? {} : { secret })}
          label={t("Copy {what}", { what: language })}
        />
      )}
      {domains.isSuccess && sender === undefined && <NoSender projectId={project.id} />}
    </>
  );
}
