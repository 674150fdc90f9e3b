// Bulgarian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const bg: PageTexts = {
  unsubscribeTitle: "Искате ли да се отпишете?",
  unsubscribeText: "На {email} няма да пристигат повече бюлетини от {project}.",
  unsubscribeButton: "Отписване",
  unsubscribedTitle: "Вие се отписахте",
  unsubscribedText: "На {email} вече не пристигат бюлетини от {project}.",
  accountNote: "Това не засяга съобщенията за вашия профил или вашите поръчки.",
  keptNote: "Този адрес вече не е в списъка с контакти. Той остава отписан, дори ако бъде добавен отново.",
  undoButton: "Отмяна",
  subscribeTitle: "Искате ли да се абонирате?",
  subscribeText: "На {email} ще пристигат бюлетини от {project}.",
  subscribeButton: "Абониране",
  subscribedTitle: "Вие сте абонирани",
  subscribedText: "На {email} пристигат бюлетини от {project}.",
  manageTitle: "Вашият абонамент",
  manageLink: "Управление на абонамента",
  invalidTitle: "Тази връзка не работи",
  invalidText: "Тя е непълна или невалидна. Моля, отворете връзката от имейла отново.",
  goneTitle: "За вас не се съхранява нищо",
  goneText: "Адресът, за който е създадена тази връзка, вече не се съхранява тук и не получава бюлетини.",
  trialTitle: "Тази връзка е само за показ",
  trialText: "Тя е от пробен имейл или преглед: не принадлежи на никого и не променя нищо.",
  problemTitle: "Не се получи",
  problemText: "Нищо не е променено. Моля, опитайте отново след малко.",
  oftenText: "Това беше променяно твърде често. Моля, опитайте отново по-късно.",
  footerReason: "Получавате този имейл, защото сте абонирани за бюлетините на {project}.",
};
