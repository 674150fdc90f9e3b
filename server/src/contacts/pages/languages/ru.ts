// Russian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ru: PageTexts = {
  unsubscribeTitle: "Хотите отписаться?",
  unsubscribeText: "На адрес {email} больше не будут приходить рассылки от {project}.",
  unsubscribeButton: "Отписаться",
  unsubscribedTitle: "Вы отписались",
  unsubscribedText: "На адрес {email} больше не приходят рассылки от {project}.",
  accountNote: "Это не касается сообщений о вашей учётной записи или ваших заказах.",
  keptNote:
    "Этого адреса больше нет в списке контактов. Он останется отписанным, даже если его добавят снова.",
  undoButton: "Отменить",
  subscribeTitle: "Хотите подписаться?",
  subscribeText: "На адрес {email} будут приходить рассылки от {project}.",
  subscribeButton: "Подписаться",
  subscribedTitle: "Вы подписаны",
  subscribedText: "На адрес {email} приходят рассылки от {project}.",
  manageTitle: "Ваша подписка",
  manageLink: "Управление подпиской",
  invalidTitle: "Эта ссылка не работает",
  invalidText: "Она неполная или недействительна. Пожалуйста, откройте ссылку из письма ещё раз.",
  goneTitle: "О вас ничего не сохранено",
  goneText:
    "Адрес, для которого создана эта ссылка, больше здесь не хранится, и рассылки на него не приходят.",
  trialTitle: "Эта ссылка только для примера",
  trialText:
    "Она из пробного письма или предварительного просмотра: никому не принадлежит и ничего не меняет.",
  problemTitle: "Не получилось",
  problemText: "Ничего не изменено. Пожалуйста, попробуйте ещё раз чуть позже.",
  oftenText: "Это меняли слишком часто. Пожалуйста, попробуйте ещё раз позже.",
  footerReason: "Вы получили это письмо, потому что подписаны на рассылки от {project}.",
};
