// Catalan texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ca: PageTexts = {
  unsubscribeTitle: "Voleu donar-vos de baixa?",
  unsubscribeText: "{email} deixarà de rebre els butlletins de {project}.",
  unsubscribeButton: "Dona’m de baixa",
  unsubscribedTitle: "Us heu donat de baixa",
  unsubscribedText: "{email} ja no rep els butlletins de {project}.",
  accountNote: "Els missatges sobre el vostre compte o les vostres comandes no se’n veuen afectats.",
  keptNote:
    "Aquesta adreça ja no és a la llista de contactes. Continuarà donada de baixa encara que s’hi torni a afegir.",
  undoButton: "Desfés",
  subscribeTitle: "Us voleu subscriure?",
  subscribeText: "{email} rebrà els butlletins de {project}.",
  subscribeButton: "Subscriu-m’hi",
  subscribedTitle: "La subscripció és activa",
  subscribedText: "{email} rep els butlletins de {project}.",
  manageTitle: "La vostra subscripció",
  manageLink: "Gestiona la subscripció",
  invalidTitle: "Aquest enllaç no funciona",
  invalidText: "És incomplet o no és vàlid. Torneu a obrir l’enllaç des del correu.",
  goneTitle: "No hi ha cap dada vostra desada",
  goneText: "L’adreça per a la qual es va crear aquest enllaç ja no està desada aquí i no rep butlletins.",
  trialTitle: "Aquest enllaç és només de mostra",
  trialText: "És d’un correu de prova o d’una previsualització: no pertany a ningú i no canvia res.",
  problemTitle: "No ha funcionat",
  problemText: "No s’ha canviat res. Torneu-ho a provar d’aquí a una estona.",
  oftenText: "Això s’ha canviat moltes vegades. Torneu-ho a provar més tard.",
  footerReason: "Rebeu aquest correu perquè us heu subscrit als butlletins de {project}.",
};
