// Turkish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const tr: PageTexts = {
  unsubscribeTitle: "Abonelikten çıkmak istiyor musunuz?",
  unsubscribeText: "{email} adresine artık {project} bültenleri gönderilmeyecek.",
  unsubscribeButton: "Abonelikten çık",
  unsubscribedTitle: "Abonelikten çıktınız",
  unsubscribedText: "{email} adresine artık {project} bültenleri gönderilmiyor.",
  accountNote: "Hesabınızla veya siparişlerinizle ilgili iletiler bundan etkilenmez.",
  keptNote: "Bu adres artık kişi listesinde değil. Yeniden eklense bile aboneliği kapalı kalır.",
  undoButton: "Geri al",
  subscribeTitle: "Abone olmak istiyor musunuz?",
  subscribeText: "{email} adresine {project} bültenleri gönderilecek.",
  subscribeButton: "Abone ol",
  subscribedTitle: "Abonesiniz",
  subscribedText: "{email} adresine {project} bültenleri gönderiliyor.",
  manageTitle: "Aboneliğiniz",
  manageLink: "Aboneliği yönet",
  invalidTitle: "Bu bağlantı çalışmıyor",
  invalidText: "Bağlantı eksik veya geçersiz. Lütfen e-postadaki bağlantıyı yeniden açın.",
  goneTitle: "Hakkınızda kayıtlı bilgi yok",
  goneText:
    "Bu bağlantının oluşturulduğu adres artık burada kayıtlı değil ve bu adrese bülten gönderilmiyor.",
  trialTitle: "Bu bağlantı yalnızca gösterim içindir",
  trialText:
    "Bir deneme e-postasında veya önizlemede yer alıyor: kimseye ait değildir ve hiçbir şeyi değiştirmez.",
  problemTitle: "İşlem tamamlanamadı",
  problemText: "Hiçbir şey değiştirilmedi. Lütfen biraz sonra yeniden deneyin.",
  oftenText: "Bu çok sık değiştirildi. Lütfen daha sonra yeniden deneyin.",
  footerReason: "Bu e-postayı, {project} bültenlerine abone olduğunuz için alıyorsunuz.",
};
