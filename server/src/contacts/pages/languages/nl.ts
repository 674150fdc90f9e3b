// Dutch texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const nl: PageTexts = {
  unsubscribeTitle: "Wilt u zich afmelden?",
  unsubscribeText: "{email} ontvangt dan geen nieuwsbrieven meer van {project}.",
  unsubscribeButton: "Afmelden",
  unsubscribedTitle: "U bent afgemeld",
  unsubscribedText: "{email} ontvangt geen nieuwsbrieven meer van {project}.",
  accountNote: "Berichten over uw account of uw bestellingen blijven gewoon komen.",
  keptNote:
    "Dit adres staat niet meer in de contactenlijst. Het blijft afgemeld, ook als het opnieuw wordt toegevoegd.",
  undoButton: "Ongedaan maken",
  subscribeTitle: "Wilt u zich aanmelden?",
  subscribeText: "{email} ontvangt dan nieuwsbrieven van {project}.",
  subscribeButton: "Aanmelden",
  subscribedTitle: "U bent aangemeld",
  subscribedText: "{email} ontvangt nieuwsbrieven van {project}.",
  manageTitle: "Uw abonnement",
  manageLink: "Abonnement beheren",
  invalidTitle: "Deze link werkt niet",
  invalidText: "Hij is onvolledig of ongeldig. Open de link in de e-mail nog eens.",
  goneTitle: "Over u is niets opgeslagen",
  goneText:
    "Het adres waarvoor deze link is gemaakt, is hier niet meer opgeslagen en ontvangt geen nieuwsbrieven.",
  trialTitle: "Deze link is alleen een voorbeeld",
  trialText: "Hij staat in een testmail of een voorvertoning: hij is van niemand en verandert niets.",
  problemTitle: "Dat is niet gelukt",
  problemText: "Er is niets gewijzigd. Probeer het zo meteen nog eens.",
  oftenText: "Dit is heel vaak gewijzigd. Probeer het later nog eens.",
  footerReason: "U ontvangt deze e-mail omdat u bent aangemeld voor nieuwsbrieven van {project}.",
};
