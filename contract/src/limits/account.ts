// The limits of accounts, sessions, members and projects.
import { limit, type Limit } from "./limit.ts";

export const ACCOUNT_LIMITS = {
  loginFailures: limit(
    10,
    "wrong passwords per account in 10 minutes, across all networks",
    "Beyond that, the response to each wrong password takes longer than the previous one, and each network can try only one at a time. The correct password always signs in. A browser that signed in before has a separate limit.",
  ),
  guessDelaySeconds: limit(
    10,
    "seconds",
    "Maximum delay of the response to a wrong password, once an account had too many.",
  ),
  codeFailures: limit(
    5,
    "wrong authenticator codes per account in 10 minutes",
    "Beyond that, a code returns 429 until the window ends. Recovery codes and passkeys still work, and a browser that signed in before has a separate limit.",
  ),
  signUps: limit(
    50,
    "sign-ups per network and hour",
    "Created accounts or, if email is configured, requested links.",
  ),
  verificationHours: limit(
    24,
    "hours",
    "Validity of the link in an email that creates an account or confirms an address.",
  ),
  passwordResetMinutes: limit(
    60,
    "minutes",
    "Validity of the link in an email that sets a new password. At least an hour, because one such email is sent per hour.",
  ),
  requestedEmails: limit(
    1,
    "email per address, purpose and hour",
    "Anyone can request a sign-up link or a password reset for an address. Further requests get the same response and send nothing.",
  ),
  sessionIdleDays: limit(7, "days", "A session ends after this time without use."),
  sessionDays: limit(90, "days", "A session ends after this time, even if it is used."),
  passkeyMinutes: limit(5, "minutes", "Validity of the challenge for adding or using a passkey."),
  passkeys: limit(20, "passkeys per account", "Remove an unused one before you add another."),
  passkeyName: limit(60, "characters", "Maximum length of a passkey's name."),
  accountMails: limit(
    5,
    "emails per address and hour",
    "Account emails, such as for a new password; then 429.",
  ),
  installationTests: limit(
    30,
    "tests per instance admin and hour",
    "Test emails and tests of all transports from the installation page.",
  ),
  authRequests: limit(
    300,
    "sign-up and sign-in calls per address and minute",
    "Slows down password guessing from one machine.",
  ),
  passwordMinimum: limit(10, "characters", "Minimum length of a password."),
  passwordMaximum: limit(256, "characters", "Maximum length of a password."),
  invitationDays: limit(7, "days", "Validity of an invitation to a project."),
  pendingInvitations: limit(100, "invitations per project", "Pending invitations; then 409."),
  memberAdditions: limit(
    100,
    "members added or invited per project and hour",
    "Also the limit for one person across all projects. Each addition sends an email to someone. Beyond that, 429 until the window ends.",
  ),
  projects: limit(1000, "projects per owner", "Then 409."),
  members: limit(1000, "members per project", "Then 409."),
} as const satisfies Record<string, Limit>;
