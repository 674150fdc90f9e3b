// Swedish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const sv: PageTexts = {
  unsubscribeTitle: "Vill du avsluta prenumerationen?",
  unsubscribeText: "{email} får då inga fler nyhetsbrev från {project}.",
  unsubscribeButton: "Avsluta prenumerationen",
  unsubscribedTitle: "Prenumerationen är avslutad",
  unsubscribedText: "{email} får inga fler nyhetsbrev från {project}.",
  accountNote: "Meddelanden om ditt konto eller dina beställningar påverkas inte.",
  keptNote:
    "Adressen finns inte längre i kontaktlistan. Den förblir avregistrerad även om den läggs till igen.",
  undoButton: "Ångra",
  subscribeTitle: "Vill du prenumerera?",
  subscribeText: "{email} får då nyhetsbrev från {project}.",
  subscribeButton: "Prenumerera",
  subscribedTitle: "Du prenumererar",
  subscribedText: "{email} får nyhetsbrev från {project}.",
  manageTitle: "Din prenumeration",
  manageLink: "Hantera prenumerationen",
  invalidTitle: "Länken fungerar inte",
  invalidText: "Den är ofullständig eller ogiltig. Öppna länken i mejlet igen.",
  goneTitle: "Ingenting är sparat om dig",
  goneText: "Adressen som länken skapades för finns inte längre sparad här och får inga nyhetsbrev.",
  trialTitle: "Den här länken är bara till för visning",
  trialText: "Den finns i ett testmejl eller en förhandsvisning: den tillhör ingen och ändrar ingenting.",
  problemTitle: "Det gick inte",
  problemText: "Ingenting har ändrats. Försök igen om en liten stund.",
  oftenText: "Detta har ändrats väldigt ofta. Försök igen senare.",
  footerReason: "Du får det här mejlet eftersom du prenumererar på nyhetsbrev från {project}.",
};
