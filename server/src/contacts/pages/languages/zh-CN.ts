// Chinese texts (mainland China) of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const zhCN: PageTexts = {
  unsubscribeTitle: "您要退订吗？",
  unsubscribeText: "{email} 将不再收到 {project} 的邮件简报。",
  unsubscribeButton: "退订",
  unsubscribedTitle: "您已退订",
  unsubscribedText: "{email} 不再收到 {project} 的邮件简报。",
  accountNote: "与您的账户或订单有关的邮件不受影响。",
  keptNote: "此地址已不在联系人列表中。即使再次被添加，也会保持退订状态。",
  undoButton: "撤销",
  subscribeTitle: "您要订阅吗？",
  subscribeText: "{email} 将会收到 {project} 的邮件简报。",
  subscribeButton: "订阅",
  subscribedTitle: "您已订阅",
  subscribedText: "{email} 会收到 {project} 的邮件简报。",
  manageTitle: "您的订阅",
  manageLink: "管理订阅",
  invalidTitle: "此链接无法使用",
  invalidText: "链接不完整或无效。请重新打开邮件中的链接。",
  goneTitle: "这里没有保存您的信息",
  goneText: "此链接对应的邮箱地址已不再保存在这里，也不会收到邮件简报。",
  trialTitle: "此链接仅供展示",
  trialText: "它来自测试邮件或预览，不属于任何人，也不会更改任何内容。",
  problemTitle: "操作未完成",
  problemText: "没有任何更改。请稍后再试。",
  oftenText: "更改过于频繁。请过一段时间再试。",
  footerReason: "您收到这封邮件，是因为您订阅了 {project} 的邮件简报。",
};
