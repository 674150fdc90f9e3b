// Finnish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const fi: PageTexts = {
  unsubscribeTitle: "Haluatko perua tilauksen?",
  unsubscribeText: "Osoitteeseen {email} ei enää lähetetä uutiskirjeitä lähettäjältä {project}.",
  unsubscribeButton: "Peru tilaus",
  unsubscribedTitle: "Tilaus on peruttu",
  unsubscribedText: "Osoitteeseen {email} ei enää lähetetä uutiskirjeitä lähettäjältä {project}.",
  accountNote: "Tämä ei vaikuta tiliäsi tai tilauksiasi koskeviin viesteihin.",
  keptNote:
    "Tämä osoite ei ole enää yhteystietoluettelossa. Tilaus pysyy peruttuna, vaikka osoite lisättäisiin uudelleen.",
  undoButton: "Kumoa",
  subscribeTitle: "Haluatko tilata uutiskirjeen?",
  subscribeText: "Osoitteeseen {email} lähetetään uutiskirjeitä lähettäjältä {project}.",
  subscribeButton: "Tilaa",
  subscribedTitle: "Tilaus on voimassa",
  subscribedText: "Osoitteeseen {email} lähetetään uutiskirjeitä lähettäjältä {project}.",
  manageTitle: "Tilauksesi",
  manageLink: "Hallitse tilausta",
  invalidTitle: "Tämä linkki ei toimi",
  invalidText: "Linkki on vajaa tai virheellinen. Avaa sähköpostissa oleva linkki uudelleen.",
  goneTitle: "Sinusta ei ole tallennettu mitään",
  goneText:
    "Osoitetta, jolle tämä linkki tehtiin, ei enää säilytetä täällä, eikä siihen lähetetä uutiskirjeitä.",
  trialTitle: "Tämä linkki on vain näytteeksi",
  trialText: "Se on testiviestissä tai esikatselussa: se ei kuulu kenellekään eikä muuta mitään.",
  problemTitle: "Se ei onnistunut",
  problemText: "Mitään ei muutettu. Yritä hetken kuluttua uudelleen.",
  oftenText: "Tätä on muutettu hyvin usein. Yritä myöhemmin uudelleen.",
  footerReason: "Saat tämän viestin, koska olet tilannut uutiskirjeitä lähettäjältä {project}.",
};
