// What members are told when the reputation guard disabled their project. Pure.
// Before it: reputation.ts. After it: emails/system-mail.ts sends it.

export interface SystemText {
  subject: string;
  text: string;
  html: string;
}

/** `project.name` and reasons are texts of people: escaped in the HTML. */
export function suspensionMail(
  project: { projectId: string; name: string; reasons: readonly string[] },
  baseUrl: string,
): SystemText {
  const opening = `Too much of the mail of the project "${project.name}" bounced or was complained about, so it was disabled:`;
  const meaning = "It can be read but not changed, and it sends nothing. Mail that was waiting still waits.";
  const advice =
    "Find out which addresses these were and where they came from, and remove the others of that origin. " +
    "Then ask whoever runs this installation to enable the project again.";
  const page = `${baseUrl}/projects/${project.projectId}/security`;
  const details = `The rates in detail: ${page}`;
  const list = project.reasons.map((reason) => `<li>${escape(reason)}</li>`).join("");
  return {
    subject: `The project "${project.name}" was disabled`,
    text: [opening, project.reasons.map((reason) => `- ${reason}`).join("\n"), meaning, advice, details].join(
      "\n\n",
    ),
    html: `<p>${escape(opening)}</p><ul>${list}</ul><p>${escape(meaning)}</p><p>${escape(advice)}</p><p>${escape(details)}</p>`,
  };
}

/** A text of somebody as HTML. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
