// Emails about accounts, in German.
import type { Place } from "../place.ts";
import type { AccountMailTexts } from "./en.ts";

const at = ({ device, ip }: Place) => `${device ?? "unbekanntes Gerät"}, IP-Adresse ${ip ?? "unbekannt"}`;
const IGNORE = "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail.";
const SECURE = "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort und prüfen Sie Ihr Konto.";
const ONCE = (hours: string) => `Der Link funktioniert einmal und ${hours} Stunden lang.`;
const NOT_YOURS = "Wenn Sie dieses Konto nicht erstellt haben, bestätigen Sie es nicht.";

export const DE: AccountMailTexts = {
  signUp: ({ email, place, hours }) => ({
    subject: "Erstellen Sie Ihr Postloft-Konto",
    blocks: [
      `Jemand möchte ein Postloft-Konto für ${email} erstellen (${at(place)}).`,
      "Wenn Sie das waren, wählen Sie ein Passwort, um es zu erstellen.",
    ],
    label: "Passwort wählen",
    footer: `${ONCE(hours)} ${IGNORE} Ohne den Link entsteht kein Konto.`,
  }),
  knownAddress: ({ email, place, resetUrl }) => ({
    subject: "Sie haben bereits ein Postloft-Konto",
    blocks: [
      `Jemand wollte sich mit ${email} registrieren (${at(place)}). Diese Adresse hat bereits ein Konto, deshalb wurde nichts erstellt.`,
      `Wenn Sie das waren, melden Sie sich an. Falls Sie Ihr Passwort vergessen haben, setzen Sie es zurück: ${resetUrl}`,
    ],
    label: "Anmelden",
    footer: IGNORE,
  }),
  verifyNew: ({ email, place, hours }) => ({
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    blocks: [
      `Für ${email} wurde ein Postloft-Konto erstellt (${at(place)}). Bestätigen Sie, dass dies Ihre Adresse ist.`,
    ],
    label: "E-Mail-Adresse bestätigen",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyAgain: ({ email, place, hours }) => ({
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    blocks: [
      `Das Konto ${email} möchte seine Adresse bestätigen (${at(place)}). Bestätigen Sie, dass dies Ihre Adresse ist.`,
    ],
    label: "E-Mail-Adresse bestätigen",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyChange: ({ email, place, hours, newEmail }) => ({
    subject: "Bestätigen Sie Ihre neue E-Mail-Adresse",
    blocks: [
      `Das Postloft-Konto ${email} möchte seine E-Mail-Adresse in ${newEmail} ändern (${at(place)}).`,
      "Bestätigen Sie das nur, wenn das Konto Ihnen gehört.",
    ],
    label: "E-Mail-Adresse bestätigen",
    footer: `${ONCE(hours)} ${IGNORE}`,
  }),
  addressChange: ({ email, place, newEmail }) => ({
    subject: "Ihre E-Mail-Adresse soll geändert werden",
    blocks: [
      `Jemand möchte die E-Mail-Adresse Ihres Kontos von ${email} in ${newEmail} ändern (${at(place)}). Sie ändert sich, sobald die neue Adresse bestätigt ist.`,
    ],
    footer: SECURE,
  }),
  passwordReset: ({ email, place, minutes }) => ({
    subject: "Setzen Sie Ihr Passwort zurück",
    blocks: [`Jemand hat ein neues Passwort für das Konto ${email} angefordert (${at(place)}).`],
    label: "Neues Passwort wählen",
    footer: `Der Link funktioniert einmal und ${minutes} Minuten lang. ${IGNORE} Ihr Passwort bleibt gleich.`,
  }),
  unconfirmedReset: ({ email, place }) => ({
    subject: "Ihr Passwort kann nicht per E-Mail zurückgesetzt werden",
    blocks: [
      `Jemand hat ein neues Passwort für das Konto ${email} angefordert (${at(place)}). Die Adresse wurde nie bestätigt, deshalb wissen wir nicht, wer das Konto erstellt hat.`,
      "Wenn Sie es erstellt haben, melden Sie sich an und bestätigen Sie die Adresse, oder bitten Sie die Administration dieses Servers um ein neues Passwort (npm run admin -- reset-password).",
    ],
    footer: IGNORE,
  }),
  passwordChanged: ({ email }) => ({
    subject: "Ihr Passwort wurde geändert",
    blocks: [`Das Passwort des Kontos ${email} wurde geändert. Alle anderen Sitzungen wurden beendet.`],
    footer:
      "Wenn Sie das nicht waren, setzen Sie sofort Ihr Passwort zurück. Wer es war, kannte das bisherige.",
  }),
  newSignIn: ({ email, place, at: when }) => ({
    subject: "Neue Anmeldung an Ihrem Konto",
    blocks: [`Ihr Konto ${email} wurde am ${when} auf einem neuen Gerät verwendet: ${at(place)}.`],
    footer: "Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort. Das beendet alle anderen Sitzungen.",
  }),
  secondFactorOn: ({ email }) => ({
    subject: "Die Zwei-Faktor-Authentifizierung ist eingeschaltet",
    blocks: [
      `Die Anmeldung am Konto ${email} verlangt jetzt einen Code einer Authenticator-App. Alle anderen Sitzungen wurden beendet.`,
    ],
    footer: SECURE,
  }),
  secondFactorOff: ({ email }) => ({
    subject: "Die Zwei-Faktor-Authentifizierung ist ausgeschaltet",
    blocks: [`Die Anmeldung am Konto ${email} verlangt wieder nur das Passwort.`],
    footer: SECURE,
  }),
  recoveryCodesRenewed: ({ email }) => ({
    subject: "Ihre Wiederherstellungscodes wurden ersetzt",
    blocks: [`Das Konto ${email} hat neue Wiederherstellungscodes. Die bisherigen gelten nicht mehr.`],
    footer: SECURE,
  }),
  connected: ({ email, service }) => ({
    subject: `Ihr Konto ist mit ${service} verbunden`,
    blocks: [`Sie können sich jetzt mit ${service} am Konto ${email} anmelden.`],
    footer: SECURE,
  }),
  disconnected: ({ email, service }) => ({
    subject: `Ihr Konto ist nicht mehr mit ${service} verbunden`,
    blocks: [`${service} meldet nicht mehr am Konto ${email} an.`],
    footer: SECURE,
  }),
  passkeyAdded: ({ email, name }) => ({
    subject: "Ihr Konto hat einen neuen Passkey",
    blocks: [`Der Passkey „${name}“ meldet jetzt am Konto ${email} an, ohne Passwort.`],
    footer: SECURE,
  }),
  passkeyRemoved: ({ email, name }) => ({
    subject: "Ein Passkey Ihres Kontos wurde entfernt",
    blocks: [`Der Passkey „${name}“ meldet nicht mehr am Konto ${email} an.`],
    footer: SECURE,
  }),
  accountDeleted: ({ email, place }) => ({
    subject: "Ihr Konto wurde gelöscht",
    blocks: [`Das Postloft-Konto ${email} wurde gelöscht (${at(place)}).`],
    footer: "Wenn Sie das nicht waren, wenden Sie sich an die Administration dieses Servers.",
  }),
};
