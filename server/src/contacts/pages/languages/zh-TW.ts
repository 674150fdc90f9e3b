// Chinese texts (Taiwan) of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const zhTW: PageTexts = {
  unsubscribeTitle: "您要取消訂閱嗎？",
  unsubscribeText: "{email} 將不再收到 {project} 的電子報。",
  unsubscribeButton: "取消訂閱",
  unsubscribedTitle: "您已取消訂閱",
  unsubscribedText: "{email} 不再收到 {project} 的電子報。",
  accountNote: "與您的帳號或訂單有關的郵件不受影響。",
  keptNote: "此地址已不在聯絡人清單中。即使再次加入，仍會維持取消訂閱。",
  undoButton: "復原",
  subscribeTitle: "您要訂閱嗎？",
  subscribeText: "{email} 將會收到 {project} 的電子報。",
  subscribeButton: "訂閱",
  subscribedTitle: "您已訂閱",
  subscribedText: "{email} 會收到 {project} 的電子報。",
  manageTitle: "您的訂閱",
  manageLink: "管理訂閱",
  invalidTitle: "此連結無法使用",
  invalidText: "連結不完整或無效。請重新開啟郵件中的連結。",
  goneTitle: "這裡沒有儲存您的資料",
  goneText: "此連結所屬的電子郵件地址已不再儲存於此，也不會收到電子報。",
  trialTitle: "此連結僅供展示",
  trialText: "它來自測試郵件或預覽，不屬於任何人，也不會變更任何內容。",
  problemTitle: "操作未完成",
  problemText: "沒有任何變更。請稍後再試一次。",
  oftenText: "變更過於頻繁。請過一段時間再試一次。",
  footerReason: "您會收到這封郵件，是因為您訂閱了 {project} 的電子報。",
};
