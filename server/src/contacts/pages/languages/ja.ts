// Japanese texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ja: PageTexts = {
  unsubscribeTitle: "配信を停止しますか？",
  unsubscribeText: "{email} に {project} のニュースレターが届かなくなります。",
  unsubscribeButton: "配信を停止する",
  unsubscribedTitle: "配信を停止しました",
  unsubscribedText: "{email} に {project} のニュースレターは届きません。",
  accountNote: "アカウントやご注文に関するメールには影響しません。",
  keptNote: "このメールアドレスは連絡先リストにありません。再び追加されても、配信停止のままです。",
  undoButton: "元に戻す",
  subscribeTitle: "配信を登録しますか？",
  subscribeText: "{email} に {project} のニュースレターが届くようになります。",
  subscribeButton: "登録する",
  subscribedTitle: "配信登録されています",
  subscribedText: "{email} に {project} のニュースレターが届きます。",
  manageTitle: "配信の設定",
  manageLink: "配信設定を変更する",
  invalidTitle: "このリンクは使用できません",
  invalidText: "リンクが不完全か無効です。メールのリンクをもう一度開いてください。",
  goneTitle: "お客様の情報は保存されていません",
  goneText: "このリンクの対象となったメールアドレスはすでに保存されておらず、ニュースレターは届きません。",
  trialTitle: "これは表示用のリンクです",
  trialText: "テストメールまたはプレビュー内のリンクです。どなたのものでもなく、何も変更されません。",
  problemTitle: "処理できませんでした",
  problemText: "何も変更されていません。しばらくしてからもう一度お試しください。",
  oftenText: "変更の回数が多すぎます。時間をおいてからもう一度お試しください。",
  footerReason: "このメールは、{project} のニュースレターに登録された方にお送りしています。",
};
