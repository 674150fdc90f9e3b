// Czech texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const cs: PageTexts = {
  unsubscribeTitle: "Chcete se odhlásit?",
  unsubscribeText: "Na adresu {email} už nebudou chodit newslettery od odesílatele {project}.",
  unsubscribeButton: "Odhlásit se",
  unsubscribedTitle: "Odběr je zrušen",
  unsubscribedText: "Na adresu {email} už nechodí newslettery od odesílatele {project}.",
  accountNote: "Zpráv o vašem účtu nebo vašich objednávkách se to netýká.",
  keptNote: "Tato adresa už není v seznamu kontaktů. Zůstane odhlášená, i kdyby byla znovu přidána.",
  undoButton: "Vrátit zpět",
  subscribeTitle: "Chcete se přihlásit k odběru?",
  subscribeText: "Na adresu {email} budou chodit newslettery od odesílatele {project}.",
  subscribeButton: "Přihlásit se k odběru",
  subscribedTitle: "Odběr je aktivní",
  subscribedText: "Na adresu {email} chodí newslettery od odesílatele {project}.",
  manageTitle: "Váš odběr",
  manageLink: "Spravovat odběr",
  invalidTitle: "Tento odkaz nefunguje",
  invalidText: "Je neúplný nebo neplatný. Otevřete prosím odkaz v e-mailu znovu.",
  goneTitle: "Nic o vás neuchováváme",
  goneText: "Adresa, pro kterou byl tento odkaz vytvořen, zde už není uložena a newslettery na ni nechodí.",
  trialTitle: "Tento odkaz je jen na ukázku",
  trialText: "Pochází ze zkušebního e-mailu nebo z náhledu: nikomu nepatří a nic nemění.",
  problemTitle: "Nepodařilo se to",
  problemText: "Nic se nezměnilo. Zkuste to prosím za chvíli znovu.",
  oftenText: "Změn bylo příliš mnoho. Zkuste to prosím později znovu.",
  footerReason: "Tento e-mail dostáváte, protože odebíráte newslettery od odesílatele {project}.",
};
