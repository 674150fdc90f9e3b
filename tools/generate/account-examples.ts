// Records API responses about an account for the documentation.
import type { Story } from "./answer-story.ts";

/** Requests account information and emails, then lists and ends sessions. */
export async function accounts({ ask }: Story): Promise<void> {
  const reading = ["users.me", "auth.oauthConfig", "users.listSessions", "users.identities"];
  for (const name of [...reading, "auth.requestVerification", "auth.requestPasswordReset"]) await ask(name);
  await ask("users.changeEmail", {
    body: { currentPassword: "correct horse battery", newEmail: "ada@example.net" },
  });
  await ask("users.endOtherSessions");
  for (const name of ["auth.passkeyOptions", "users.passkeyOptions", "users.passkeys"]) await ask(name);
  for (const name of ["users.secondFactor", "users.update"]) await ask(name);
  await ask("users.beginSecondFactor", { body: { currentPassword: "correct horse battery" } });
  await ask("users.changePassword", {
    body: { currentPassword: "correct horse battery", newPassword: "correct  horse battery" },
  });
  await ask("users.changePassword", {
    body: { currentPassword: "correct  horse battery", newPassword: "correct horse battery" },
  });
}
