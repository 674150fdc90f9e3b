// Danish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const da: PageTexts = {
  unsubscribeTitle: "Vil du afmelde dig?",
  unsubscribeText: "{email} modtager så ikke længere nyhedsbreve fra {project}.",
  unsubscribeButton: "Afmeld",
  unsubscribedTitle: "Du er afmeldt",
  unsubscribedText: "{email} modtager ikke længere nyhedsbreve fra {project}.",
  accountNote: "Beskeder om din konto eller dine ordrer bliver ikke påvirket.",
  keptNote:
    "Denne adresse er ikke længere på kontaktlisten. Den forbliver afmeldt, også hvis den tilføjes igen.",
  undoButton: "Fortryd",
  subscribeTitle: "Vil du tilmelde dig?",
  subscribeText: "{email} modtager så nyhedsbreve fra {project}.",
  subscribeButton: "Tilmeld",
  subscribedTitle: "Du er tilmeldt",
  subscribedText: "{email} modtager nyhedsbreve fra {project}.",
  manageTitle: "Dit abonnement",
  manageLink: "Administrer abonnementet",
  invalidTitle: "Linket virker ikke",
  invalidText: "Det er ufuldstændigt eller ugyldigt. Åbn linket i e-mailen igen.",
  goneTitle: "Der er ikke gemt noget om dig",
  goneText:
    "Adressen, som dette link blev lavet til, er ikke længere gemt her og modtager ingen nyhedsbreve.",
  trialTitle: "Dette link er kun til visning",
  trialText: "Det står i en testmail eller en forhåndsvisning: Det tilhører ingen og ændrer intet.",
  problemTitle: "Det lykkedes ikke",
  problemText: "Intet er ændret. Prøv igen om et øjeblik.",
  oftenText: "Dette er blevet ændret meget ofte. Prøv igen senere.",
  footerReason: "Du modtager denne e-mail, fordi du er tilmeldt nyhedsbreve fra {project}.",
};
