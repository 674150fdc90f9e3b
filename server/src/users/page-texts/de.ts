// Account pages that work without the dashboard, in German.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { PageTexts } from "./en.ts";

const { passwordMinimum, passwordMaximum } = LIMITS;

export const DE: PageTexts = {
  verify: {
    title: "Bestätigen Sie Ihre E-Mail-Adresse",
    about:
      "Sie haben einen Link aus einer E-Mail an diese Adresse geöffnet. Bestätigen Sie, dass die Adresse Ihnen gehört.",
    action: "E-Mail-Adresse bestätigen",
  },
  verified: {
    title: "Bestätigt",
    about: ({ email }) => `${email} ist bestätigt. Sie können diese Seite schließen.`,
  },
  signUp: {
    title: "Konto erstellen",
    label: "Passwort wählen",
    action: "Konto erstellen",
    note: "Das Konto wird mit der Adresse erstellt, an die dieser Link ging.",
  },
  signedUp: {
    title: "Ihr Konto ist bereit",
    about: ({ email }) => `Das Konto ${email} wurde erstellt.`,
    action: "Anmelden",
  },
  reset: {
    title: "Neues Passwort setzen",
    label: "Neues Passwort",
    action: "Passwort setzen",
    note: "Sie werden damit überall abgemeldet.",
  },
  resetDone: {
    title: "Passwort gesetzt",
    about: "Melden Sie sich mit dem neuen Passwort an. Sie können diese Seite schließen.",
  },
  problem: { title: "Das hat nicht geklappt" },
  code: {
    title: "Zwei-Faktor-Authentifizierung",
    label: "Code der App oder Wiederherstellungscode",
    action: "Anmelden",
    passkey: "Stattdessen einen Passkey verwenden",
    noPasskey: "Es wurde kein Passkey gewählt, oder es dauerte zu lange.",
  },
  refusals: {
    TOKEN_INVALID: "Dieser Link gilt nicht mehr. Fordern Sie einen neuen an.",
    RATE_LIMIT_EXCEEDED: "Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es dann noch einmal.",
    SIGNUPS_DISABLED: "Hier kann niemand ein Konto anlegen.",
    UNAUTHORIZED: "Melden Sie sich erst an und versuchen Sie es dann noch einmal.",
  },
  problems: {
    password: `Wählen Sie ein anderes Passwort: ${passwordMinimum.value} bis ${passwordMaximum.value} Zeichen, keines der häufigsten und weder Ihre Adresse noch Postloft oder der Name eines Projekts.`,
    addressTaken: "Diese E-Mail-Adresse hat bereits ein Konto. Melden Sie sich an.",
    staleFlow:
      "Diese Anmeldung ist abgelaufen oder wurde in einem anderen Browser begonnen. Beginnen Sie neu.",
    noSuchService: "Die Anmeldung über diesen Dienst ist nicht aktiviert.",
    oldSession: "Melden Sie sich ab und wieder an und verbinden Sie den Dienst dann innerhalb einer Stunde.",
    notThisPasskey:
      "Dieser Passkey gehört zu einem anderen Konto. Versuchen Sie einen anderen oder geben Sie einen Code ein.",
    wrongCode: "Der Code ist falsch oder wurde schon benutzt.",
    oddId: ({ service }) => `${service} hat eine ungültige Benutzerkennung zurückgegeben.`,
    unproved: ({ service }) =>
      `${service} hat keine bestätigte E-Mail-Adresse von Ihnen. Bestätigen Sie Ihre dort und versuchen Sie es dann noch einmal.`,
    denied: ({ service }) => `Sie haben ${service} nicht erlaubt, Sie anzumelden.`,
    refused: ({ service }) => `${service} hat die Anmeldung abgelehnt. Versuchen Sie es noch einmal.`,
    staleAnswer: ({ service }) =>
      `Die Antwort von ${service} ist ungültig oder abgelaufen. Beginnen Sie neu.`,
    unreachable: ({ service }) =>
      `${service} ist nicht erreichbar oder antwortet nicht richtig. Versuchen Sie es in einer Minute noch einmal.`,
    unconfirmed: ({ email }) =>
      `Das Konto ${email} hat seine Adresse nie bestätigt. Melden Sie sich mit seinem Passwort an und bestätigen Sie zuerst die Adresse, oder wenden Sie sich an die Administration dieses Servers.`,
    otherAccount: ({ service }) =>
      `Dieses ${service}-Konto ist mit einem anderen Postloft-Konto verbunden. Melden Sie sich dort an oder trennen Sie die Verbindung dort.`,
  },
};
