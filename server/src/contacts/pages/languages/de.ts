// German texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const de: PageTexts = {
  unsubscribeTitle: "Möchten Sie sich abmelden?",
  unsubscribeText: "{email} erhält dann keine Newsletter von {project} mehr.",
  unsubscribeButton: "Abmelden",
  unsubscribedTitle: "Sie sind abgemeldet",
  unsubscribedText: "{email} erhält keine Newsletter von {project} mehr.",
  accountNote: "Nachrichten zu Ihrem Konto oder Ihren Bestellungen sind davon nicht betroffen.",
  keptNote:
    "Diese Adresse ist nicht mehr in der Kontaktliste. Sie bleibt abgemeldet, auch wenn sie wieder hinzugefügt wird.",
  undoButton: "Rückgängig machen",
  subscribeTitle: "Möchten Sie sich anmelden?",
  subscribeText: "{email} erhält dann Newsletter von {project}.",
  subscribeButton: "Anmelden",
  subscribedTitle: "Sie sind angemeldet",
  subscribedText: "{email} erhält Newsletter von {project}.",
  manageTitle: "Ihr Abonnement",
  manageLink: "Abonnement verwalten",
  invalidTitle: "Dieser Link funktioniert nicht",
  invalidText: "Er ist unvollständig oder ungültig. Bitte öffnen Sie den Link in der E-Mail noch einmal.",
  goneTitle: "Über Sie ist nichts gespeichert",
  goneText:
    "Die Adresse, für die dieser Link erstellt wurde, ist hier nicht mehr gespeichert und erhält keine Newsletter.",
  trialTitle: "Dieser Link dient nur der Ansicht",
  trialText: "Er steht in einer Test-E-Mail oder einer Vorschau: Er gehört niemandem und ändert nichts.",
  problemTitle: "Das hat nicht geklappt",
  problemText: "Es wurde nichts geändert. Bitte versuchen Sie es gleich noch einmal.",
  oftenText: "Das wurde sehr oft geändert. Bitte versuchen Sie es später noch einmal.",
  footerReason: "Sie erhalten diese E-Mail, weil Sie Newsletter von {project} abonniert haben.",
};
