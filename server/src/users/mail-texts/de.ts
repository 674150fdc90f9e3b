// What people are told about their accounts, in German. Before it: account-mails.ts. After it: nothing.
import type { AccountMailTexts } from "./en.ts";

const CHANGE_AT_ONCE = "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort: Wer es war, kennt es.";
const LOOK_AT_ACCOUNT =
  "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort und sehen Sie sich Ihr Konto an.";
const LOOK_AT_PASSKEYS =
  "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort und sehen Sie sich die Passkeys Ihres Kontos an.";
const NOT_YOU = "Wenn Sie das nicht waren, müssen Sie nichts tun: Ohne den Link ändert sich nichts.";

export const DE: AccountMailTexts = {
  verification: {
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    body: ({ email }) => `${email} ist die Adresse eines Kontos oder soll es werden. Gehört sie Ihnen?`,
    action: "Ja, sie gehört mir",
    footer: ({ hours }) => `Der Link gilt ${hours} Stunden. ${NOT_YOU}`,
  },
  knownAddress: {
    subject: "Sie haben schon ein Konto",
    body: ({ email }) =>
      `Jemand hat sich mit ${email} registriert, der Adresse Ihres Kontos. Wenn Sie das waren, melden Sie sich bei diesem Konto an; haben Sie das Passwort vergessen, können Sie dort ein neues setzen.`,
    action: "Anmelden",
    footer:
      "Mit der Registrierung ist ein anderes Konto entstanden, das Ihre Adresse nicht bekommen kann. Wenn Sie das nicht waren, müssen Sie nichts tun: In Ihr Konto kommt damit niemand.",
  },
  passwordReset: {
    subject: "Neues Passwort setzen",
    body: ({ email }) => `Für das Konto ${email} wurde ein neues Passwort angefordert.`,
    action: "Neues Passwort setzen",
    footer: ({ minutes }) => `Der Link gilt einmal und ${minutes} Minuten lang. ${NOT_YOU}`,
  },
  passwordChanged: {
    subject: "Ihr Passwort wurde geändert",
    body: ({ email }) =>
      `Das Passwort des Kontos ${email} wurde geändert, und alle anderen Sitzungen wurden beendet.`,
    footer: "Wenn Sie das nicht waren, fordern Sie sofort ein neues Passwort an: Wer es war, kennt das alte.",
  },
  addressChange: {
    subject: "Ihre E-Mail-Adresse soll geändert werden",
    body: ({ email, newEmail }) =>
      `Das Konto ${email} soll die Adresse ${newEmail} bekommen. Das geschieht, sobald der Link in der Mail dorthin geöffnet wird.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOn: {
    subject: "Ihr zweiter Faktor ist eingeschaltet",
    body: ({ email }) =>
      `Die Anmeldung am Konto ${email} verlangt jetzt einen Code einer Authenticator-App. Alle anderen Sitzungen wurden beendet.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOff: {
    subject: "Ihr zweiter Faktor ist ausgeschaltet",
    body: ({ email }) => `Die Anmeldung am Konto ${email} verlangt wieder nur das Passwort.`,
    footer: CHANGE_AT_ONCE,
  },
  connected: {
    subject: ({ service }) => `Ihr Konto ist mit ${service} verbunden`,
    body: ({ email, service }) =>
      `Wer sich bei ${service} als Sie anmeldet, kommt jetzt auch in das Konto ${email}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  disconnected: {
    subject: ({ service }) => `Ihr Konto ist nicht mehr mit ${service} verbunden`,
    body: ({ email, service }) => `Über ${service} kommt niemand mehr in das Konto ${email}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  passkeyAdded: {
    subject: "Ihr Konto hat einen neuen Passkey",
    body: ({ email, name }) => `Der Passkey „${name}“ meldet jetzt am Konto ${email} an, ohne Passwort.`,
    footer: LOOK_AT_PASSKEYS,
  },
  passkeyRemoved: {
    subject: "Ein Passkey Ihres Kontos wurde entfernt",
    body: ({ email, name }) => `Der Passkey „${name}“ meldet nicht mehr am Konto ${email} an.`,
    footer: LOOK_AT_PASSKEYS,
  },
};
