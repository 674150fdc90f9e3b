// Arabic texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ar: PageTexts = {
  unsubscribeTitle: "هل تريد إلغاء الاشتراك؟",
  unsubscribeText: "لن تصل إلى {email} أي نشرات بريدية من {project} بعد ذلك.",
  unsubscribeButton: "إلغاء الاشتراك",
  unsubscribedTitle: "تم إلغاء اشتراكك",
  unsubscribedText: "لم تعد تصل إلى {email} أي نشرات بريدية من {project}.",
  accountNote: "لا يؤثر ذلك في الرسائل المتعلقة بحسابك أو بطلباتك.",
  keptNote: "لم يعد هذا العنوان في قائمة جهات الاتصال، وسيبقى ملغى الاشتراك حتى إذا أُضيف من جديد.",
  undoButton: "تراجع",
  subscribeTitle: "هل تريد الاشتراك؟",
  subscribeText: "ستصل إلى {email} النشرات البريدية من {project}.",
  subscribeButton: "اشتراك",
  subscribedTitle: "اشتراكك فعّال",
  subscribedText: "تصل إلى {email} النشرات البريدية من {project}.",
  manageTitle: "اشتراكك",
  manageLink: "إدارة الاشتراك",
  invalidTitle: "هذا الرابط لا يعمل",
  invalidText: "الرابط غير مكتمل أو غير صالح. يُرجى فتح الرابط من الرسالة مرة أخرى.",
  goneTitle: "لا توجد بيانات محفوظة عنك",
  goneText: "العنوان الذي أُنشئ له هذا الرابط لم يعد محفوظًا هنا، ولا تصل إليه أي نشرات بريدية.",
  trialTitle: "هذا الرابط للعرض فقط",
  trialText: "يوجد هذا الرابط في رسالة تجريبية أو في معاينة، ولا يخص أحدًا ولا يغيّر شيئًا.",
  problemTitle: "لم تنجح العملية",
  problemText: "لم يتغيّر شيء. يُرجى المحاولة مرة أخرى بعد قليل.",
  oftenText: "تم تغيير ذلك مرات كثيرة جدًا. يُرجى المحاولة مرة أخرى لاحقًا.",
  footerReason: "تصلك هذه الرسالة لاشتراكك في النشرات البريدية من {project}.",
};
