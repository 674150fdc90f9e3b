// Hungarian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const hu: PageTexts = {
  unsubscribeTitle: "Szeretne leiratkozni?",
  unsubscribeText: "A(z) {email} címre nem érkezik több hírlevél a következő feladótól: {project}.",
  unsubscribeButton: "Leiratkozás",
  unsubscribedTitle: "Leiratkozott",
  unsubscribedText: "A(z) {email} címre már nem érkezik hírlevél a következő feladótól: {project}.",
  accountNote: "Ez nem érinti a fiókjával vagy a megrendeléseivel kapcsolatos üzeneteket.",
  keptNote: "Ez a cím már nem szerepel a névjegyzékben. Akkor is leiratkozva marad, ha újra felveszik.",
  undoButton: "Visszavonás",
  subscribeTitle: "Szeretne feliratkozni?",
  subscribeText: "A(z) {email} címre hírlevelek fognak érkezni a következő feladótól: {project}.",
  subscribeButton: "Feliratkozás",
  subscribedTitle: "Fel van iratkozva",
  subscribedText: "A(z) {email} címre hírlevelek érkeznek a következő feladótól: {project}.",
  manageTitle: "Az Ön feliratkozása",
  manageLink: "Feliratkozás kezelése",
  invalidTitle: "Ez a hivatkozás nem működik",
  invalidText: "Hiányos vagy érvénytelen. Kérjük, nyissa meg újra az e-mailben található hivatkozást.",
  goneTitle: "Önről semmit sem tárolunk",
  goneText:
    "Azt a címet, amelyhez ez a hivatkozás készült, itt már nem tároljuk, és nem érkezik rá hírlevél.",
  trialTitle: "Ez a hivatkozás csak szemléltetésre szolgál",
  trialText: "Egy próba e-mailben vagy előnézetben szerepel: senkihez sem tartozik, és nem változtat semmin.",
  problemTitle: "Nem sikerült",
  problemText: "Semmi sem változott. Kérjük, próbálja újra egy kicsit később.",
  oftenText: "Ez nagyon sokszor módosult. Kérjük, próbálja újra később.",
  footerReason: "Azért kapta ezt az e-mailt, mert feliratkozott a következő feladó hírleveleire: {project}.",
};
