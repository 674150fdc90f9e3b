// What the API says of an account, for the documentation.
import type { Story } from "./answer-story.ts";

/** Its address is asked for, its sessions are looked at and ended. */
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
