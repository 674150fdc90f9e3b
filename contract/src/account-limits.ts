// The bounds of accounts and of what people have together: passwords, guesses, mails with links, members, projects.
// Before it: limit.ts. After it: limits.ts lists them with the others.
import { limit, type Limit } from "./limit.ts";

export const ACCOUNT_LIMITS = {
  loginFailures: limit(
    10,
    "failed logins per account and address in 10 minutes",
    "After that a login answers 429 until the window ends.",
  ),
  codeFailures: limit(
    5,
    "wrong codes of the second factor per account in 10 minutes",
    "After that each login that gives one answers 429 until the window ends.",
  ),
  signUps: limit(50, "accounts per network and hour", "Sign-ups that made one."),
  signUpsAs: limit(
    10,
    "sign-ups with one e-mail address in a day",
    "Each may send a mail to it. Whoever has an account already logs in.",
  ),
  verificationHours: limit(24, "hours", "How long the link in a mail holds that proves an address."),
  unprovenDays: limit(
    30,
    "days",
    "How long an account stays whose address is not proved, with no session, no other way in and no project. The first account stays.",
  ),
  passwordResetMinutes: limit(
    30,
    "minutes",
    "How long the link in a mail holds with which a new password is set.",
  ),
  passkeyMinutes: limit(
    5,
    "minutes",
    "How long the challenge holds that a passkey answers, when it is added or shown.",
  ),
  passkeys: limit(20, "passkeys per account", "Remove one that you do not use before you add another."),
  passkeyName: limit(60, "characters", "The longest name of a passkey."),
  accountMails: limit(
    5,
    "mails per address and hour",
    "About an account, such as for a new password; then 429.",
  ),
  authRequests: limit(
    300,
    "sign-up and log-in calls per address and minute",
    "Slows down guessing from one machine.",
  ),
  passwordMinimum: limit(8, "characters", "The shortest password."),
  passwordMaximum: limit(256, "characters", "The longest password."),
  invitationDays: limit(7, "days", "How long an invitation to a project can be accepted."),
  pendingInvitations: limit(100, "invitations per project", "Those that wait; one more is a 409."),
  memberAdditions: limit(
    100,
    "members added or invited per project and hour",
    "One person adds as many, whatever the projects. Each is a mail to somebody; after that 429 until the window ends.",
  ),
  projects: limit(1000, "projects per owner", "One more is a 409."),
  members: limit(1000, "members per project", "One more is a 409."),
} as const satisfies Record<string, Limit>;
