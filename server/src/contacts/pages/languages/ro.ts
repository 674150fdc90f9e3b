// Romanian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ro: PageTexts = {
  unsubscribeTitle: "Doriți să vă dezabonați?",
  unsubscribeText: "{email} nu va mai primi newslettere de la {project}.",
  unsubscribeButton: "Dezabonare",
  unsubscribedTitle: "V-ați dezabonat",
  unsubscribedText: "{email} nu mai primește newslettere de la {project}.",
  accountNote: "Mesajele despre contul sau comenzile dumneavoastră nu sunt afectate.",
  keptNote:
    "Această adresă nu mai este în lista de contacte. Rămâne dezabonată chiar dacă este adăugată din nou.",
  undoButton: "Anulare",
  subscribeTitle: "Doriți să vă abonați?",
  subscribeText: "{email} va primi newslettere de la {project}.",
  subscribeButton: "Abonare",
  subscribedTitle: "Abonamentul este activ",
  subscribedText: "{email} primește newslettere de la {project}.",
  manageTitle: "Abonamentul dumneavoastră",
  manageLink: "Gestionați abonamentul",
  invalidTitle: "Acest link nu funcționează",
  invalidText: "Este incomplet sau nu este valid. Deschideți din nou linkul din e-mail.",
  goneTitle: "Nu este păstrată nicio informație despre dumneavoastră",
  goneText:
    "Adresa pentru care a fost creat acest link nu mai este păstrată aici și nu primește newslettere.",
  trialTitle: "Acest link este doar un exemplu",
  trialText:
    "Se află într-un e-mail de test sau într-o previzualizare: nu aparține nimănui și nu modifică nimic.",
  problemTitle: "Nu a reușit",
  problemText: "Nu s-a modificat nimic. Încercați din nou peste câteva momente.",
  oftenText: "Acest lucru a fost modificat foarte des. Încercați din nou mai târziu.",
  footerReason: "Primiți acest e-mail deoarece v-ați abonat la newsletterele de la {project}.",
};
