// Italian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const it: PageTexts = {
  unsubscribeTitle: "Vuole annullare l’iscrizione?",
  unsubscribeText: "{email} non riceverà più le newsletter di {project}.",
  unsubscribeButton: "Annulla l’iscrizione",
  unsubscribedTitle: "Iscrizione annullata",
  unsubscribedText: "{email} non riceve più le newsletter di {project}.",
  accountNote: "I messaggi sul Suo account o sui Suoi ordini non sono interessati.",
  keptNote:
    "Questo indirizzo non è più nell’elenco dei contatti. Resterà disiscritto anche se viene aggiunto di nuovo.",
  undoButton: "Ripristina",
  subscribeTitle: "Vuole iscriversi?",
  subscribeText: "{email} riceverà le newsletter di {project}.",
  subscribeButton: "Conferma l’iscrizione",
  subscribedTitle: "Iscrizione attiva",
  subscribedText: "{email} riceve le newsletter di {project}.",
  manageTitle: "La Sua iscrizione",
  manageLink: "Gestisci l’iscrizione",
  invalidTitle: "Questo link non funziona",
  invalidText: "È incompleto o non valido. Apra di nuovo il link dall’e-mail.",
  goneTitle: "Non è conservato alcun dato su di Lei",
  goneText:
    "L’indirizzo per cui è stato creato questo link non è più conservato qui e non riceve newsletter.",
  trialTitle: "Questo link è solo dimostrativo",
  trialText:
    "Si trova in un’e-mail di prova o in un’anteprima: non appartiene a nessuno e non modifica nulla.",
  problemTitle: "Non ha funzionato",
  problemText: "Non è stato modificato nulla. Riprovi tra qualche istante.",
  oftenText: "È stato modificato molto spesso. Riprovi più tardi.",
  footerReason: "Riceve questa e-mail perché ha effettuato l’iscrizione alle newsletter di {project}.",
};
