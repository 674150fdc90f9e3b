// The limits of accounts, sessions, members and projects.
import { limit, type Limit } from "./limit.ts";

export const ACCOUNT_LIMITS = {
  loginFailures: limit(
    10,
    "wrong passwords per account in 10 minutes, whatever the network",
    "After that each wrong password is answered later than the one before, and a network tries one at a time. The right password always signs in. A browser that signed in before has a budget of its own.",
  ),
  guessDelaySeconds: limit(
    10,
    "seconds",
    "The longest wait for the answer to a wrong password, once an account has had too many.",
  ),
  codeFailures: limit(
    5,
    "wrong codes of the authenticator app per account in 10 minutes",
    "After that a code answers 429 until the window ends. Recovery codes and passkeys still work, and a browser that signed in before has a budget of its own.",
  ),
  signUps: limit(
    50,
    "sign-ups per network and hour",
    "Accounts that were created or, when email leaves the machine, links that were requested.",
  ),
  verificationHours: limit(
    24,
    "hours",
    "How long the link in an email is valid that creates an account or confirms an address.",
  ),
  passwordResetMinutes: limit(
    60,
    "minutes",
    "How long the link in an email is valid that sets a new password. Not shorter than an hour, because one such email is sent per hour.",
  ),
  requestedEmails: limit(
    1,
    "email per address, purpose and hour",
    "Anyone can request a sign-up link or a password reset for an address. Further requests get the same response and send nothing.",
  ),
  sessionIdleDays: limit(7, "days", "A session ends when it is not used for this long."),
  sessionDays: limit(90, "days", "A session ends after this time, however much it is used."),
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
  passwordMinimum: limit(10, "characters", "The shortest password."),
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
