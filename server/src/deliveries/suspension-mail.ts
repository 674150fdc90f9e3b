// What members are told when the reputation guard disabled their project, or may soon. Pure.
// Before it: reputation.ts. After it: emails/system-mail.ts sends it.
import { layOutSystemMail, type SystemMailText } from "../emails/system-mail-layout.ts";

export function suspensionMail(
  project: { projectId: string; name: string; reasons: readonly string[] },
  baseUrl: string,
): SystemMailText {
  return layOutSystemMail({
    subject: `The project "${project.name}" was disabled`,
    blocks: [
      `Too much of the mail of the project "${project.name}" bounced or was complained about, so it was disabled:`,
      { points: project.reasons },
      "It can be read but not changed, and it sends nothing. Mail that was waiting still waits.",
      "Find out which addresses these were and where they came from, and remove the others of that origin. " +
        "Then ask whoever runs this installation to enable the project again.",
    ],
    action: { label: "The rates in detail", url: `${baseUrl}/projects/${project.projectId}/security` },
  });
}

export function warningMail(
  project: { projectId: string; reasons: readonly string[] },
  baseUrl: string,
): SystemMailText {
  return layOutSystemMail({
    subject: "Too much of your mail comes back or is reported as spam",
    blocks: [
      "Receivers judge a sender by these rates, and a project whose rates are critical is disabled:",
      { points: project.reasons },
      "Find out which addresses these were and where they came from, and stop sending to the others of that origin.",
    ],
    action: {
      label: "The rates in detail",
      url: `${baseUrl}/app/${project.projectId}/settings?tab=reputation`,
    },
    footer:
      "Told once a week at most; in the settings of the project, under Notifications, you switch it off.",
  });
}
