// Chinese texts (Hong Kong) of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const zhHK: PageTexts = {
  unsubscribeTitle: "您要取消訂閱嗎？",
  unsubscribeText: "{email} 將不會再收到 {project} 的電子通訊。",
  unsubscribeButton: "取消訂閱",
  unsubscribedTitle: "您已取消訂閱",
  unsubscribedText: "{email} 不會再收到 {project} 的電子通訊。",
  accountNote: "有關您的帳戶或訂單的電郵不受影響。",
  keptNote: "此地址已不在聯絡人名單內。即使再次加入，仍會保持取消訂閱。",
  undoButton: "還原",
  subscribeTitle: "您要訂閱嗎？",
  subscribeText: "{email} 將會收到 {project} 的電子通訊。",
  subscribeButton: "訂閱",
  subscribedTitle: "您已訂閱",
  subscribedText: "{email} 會收到 {project} 的電子通訊。",
  manageTitle: "您的訂閱",
  manageLink: "管理訂閱",
  invalidTitle: "此連結無法使用",
  invalidText: "連結不完整或無效。請重新開啟電郵內的連結。",
  goneTitle: "這裡沒有儲存您的資料",
  goneText: "此連結所屬的電郵地址已不再儲存於此，亦不會收到電子通訊。",
  trialTitle: "此連結僅供展示",
  trialText: "它來自測試電郵或預覽，不屬於任何人，亦不會更改任何內容。",
  problemTitle: "操作未能完成",
  problemText: "沒有任何更改。請稍後再試。",
  oftenText: "更改過於頻繁。請過一段時間再試。",
  footerReason: "您收到這封電郵，是因為您訂閱了 {project} 的電子通訊。",
};
