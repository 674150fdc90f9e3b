// Polish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const pl: PageTexts = {
  unsubscribeTitle: "Czy chcesz się wypisać?",
  unsubscribeText: "Na adres {email} nie będą już przychodzić newslettery od {project}.",
  unsubscribeButton: "Wypisz się",
  unsubscribedTitle: "Subskrypcja została anulowana",
  unsubscribedText: "Na adres {email} nie przychodzą już newslettery od {project}.",
  accountNote: "Nie dotyczy to wiadomości o Twoim koncie ani o Twoich zamówieniach.",
  keptNote:
    "Tego adresu nie ma już na liście kontaktów. Pozostanie wypisany, nawet jeśli zostanie ponownie dodany.",
  undoButton: "Cofnij",
  subscribeTitle: "Czy chcesz się zapisać?",
  subscribeText: "Na adres {email} będą przychodzić newslettery od {project}.",
  subscribeButton: "Zapisz się",
  subscribedTitle: "Subskrypcja jest aktywna",
  subscribedText: "Na adres {email} przychodzą newslettery od {project}.",
  manageTitle: "Twoja subskrypcja",
  manageLink: "Zarządzaj subskrypcją",
  invalidTitle: "Ten link nie działa",
  invalidText: "Jest niepełny lub nieprawidłowy. Otwórz ponownie link z wiadomości e-mail.",
  goneTitle: "Nie przechowujemy żadnych danych o Tobie",
  goneText: "Adres, dla którego utworzono ten link, nie jest już tu zapisany i nie otrzymuje newsletterów.",
  trialTitle: "Ten link służy tylko do podglądu",
  trialText: "Pochodzi z wiadomości testowej lub podglądu: nie należy do nikogo i niczego nie zmienia.",
  problemTitle: "Nie udało się",
  problemText: "Nic nie zostało zmienione. Spróbuj ponownie za chwilę.",
  oftenText: "Zmieniano to bardzo często. Spróbuj ponownie później.",
  footerReason: "Otrzymujesz tę wiadomość, ponieważ subskrybujesz newslettery od {project}.",
};
