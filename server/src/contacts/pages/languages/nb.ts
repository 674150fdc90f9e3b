// Norwegian (Bokmål) texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const nb: PageTexts = {
  unsubscribeTitle: "Vil du melde deg av?",
  unsubscribeText: "{email} får da ikke flere nyhetsbrev fra {project}.",
  unsubscribeButton: "Meld meg av",
  unsubscribedTitle: "Du er meldt av",
  unsubscribedText: "{email} får ikke lenger nyhetsbrev fra {project}.",
  accountNote: "Meldinger om kontoen din eller bestillingene dine blir ikke påvirket.",
  keptNote:
    "Denne adressen er ikke lenger på kontaktlisten. Den forblir avmeldt, også hvis den legges til igjen.",
  undoButton: "Angre",
  subscribeTitle: "Vil du melde deg på?",
  subscribeText: "{email} får da nyhetsbrev fra {project}.",
  subscribeButton: "Meld meg på",
  subscribedTitle: "Du er påmeldt",
  subscribedText: "{email} får nyhetsbrev fra {project}.",
  manageTitle: "Abonnementet ditt",
  manageLink: "Administrer abonnementet",
  invalidTitle: "Denne lenken virker ikke",
  invalidText: "Den er ufullstendig eller ugyldig. Åpne lenken i e-posten på nytt.",
  goneTitle: "Ingenting er lagret om deg",
  goneText: "Adressen denne lenken ble laget for, er ikke lenger lagret her og får ingen nyhetsbrev.",
  trialTitle: "Denne lenken er bare til visning",
  trialText: "Den står i en testmelding eller en forhåndsvisning: Den tilhører ingen og endrer ingenting.",
  problemTitle: "Det gikk ikke",
  problemText: "Ingenting er endret. Prøv igjen om et øyeblikk.",
  oftenText: "Dette er endret svært ofte. Prøv igjen senere.",
  footerReason: "Du får denne e-posten fordi du er påmeldt nyhetsbrev fra {project}.",
};
