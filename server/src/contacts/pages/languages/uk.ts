// Ukrainian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const uk: PageTexts = {
  unsubscribeTitle: "Бажаєте відписатися?",
  unsubscribeText: "На адресу {email} більше не надходитимуть розсилки від {project}.",
  unsubscribeButton: "Відписатися",
  unsubscribedTitle: "Ви відписалися",
  unsubscribedText: "На адресу {email} більше не надходять розсилки від {project}.",
  accountNote: "Це не стосується повідомлень про ваш обліковий запис або ваші замовлення.",
  keptNote:
    "Цієї адреси більше немає у списку контактів. Вона залишиться відписаною, навіть якщо її додадуть знову.",
  undoButton: "Скасувати",
  subscribeTitle: "Бажаєте підписатися?",
  subscribeText: "На адресу {email} надходитимуть розсилки від {project}.",
  subscribeButton: "Підписатися",
  subscribedTitle: "Вас підписано",
  subscribedText: "На адресу {email} надходять розсилки від {project}.",
  manageTitle: "Ваша підписка",
  manageLink: "Керувати підпискою",
  invalidTitle: "Це посилання не працює",
  invalidText: "Воно неповне або недійсне. Будь ласка, відкрийте посилання з листа ще раз.",
  goneTitle: "Про вас нічого не збережено",
  goneText:
    "Адреса, для якої створено це посилання, тут більше не зберігається, і розсилки на неї не надходять.",
  trialTitle: "Це посилання лише для прикладу",
  trialText: "Воно з пробного листа або попереднього перегляду: нікому не належить і нічого не змінює.",
  problemTitle: "Не вдалося",
  problemText: "Нічого не змінено. Будь ласка, спробуйте ще раз трохи згодом.",
  oftenText: "Це змінювали надто часто. Будь ласка, спробуйте ще раз пізніше.",
  footerReason: "Ви отримали цей лист, бо підписані на розсилки від {project}.",
};
