// Korean texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const ko: PageTexts = {
  unsubscribeTitle: "수신을 거부하시겠습니까?",
  unsubscribeText: "앞으로 {email} 주소로 {project} 뉴스레터가 발송되지 않습니다.",
  unsubscribeButton: "수신 거부",
  unsubscribedTitle: "수신이 거부되었습니다",
  unsubscribedText: "{email} 주소로 더 이상 {project} 뉴스레터가 발송되지 않습니다.",
  accountNote: "계정이나 주문에 관한 메일은 영향을 받지 않습니다.",
  keptNote: "이 주소는 더 이상 연락처 목록에 없습니다. 다시 추가되더라도 수신 거부 상태가 유지됩니다.",
  undoButton: "실행 취소",
  subscribeTitle: "구독하시겠습니까?",
  subscribeText: "앞으로 {email} 주소로 {project} 뉴스레터가 발송됩니다.",
  subscribeButton: "구독하기",
  subscribedTitle: "구독 중입니다",
  subscribedText: "{email} 주소로 {project} 뉴스레터가 발송됩니다.",
  manageTitle: "내 구독",
  manageLink: "구독 관리",
  invalidTitle: "이 링크는 사용할 수 없습니다",
  invalidText: "링크가 불완전하거나 유효하지 않습니다. 이메일에 있는 링크를 다시 열어 주세요.",
  goneTitle: "저장된 정보가 없습니다",
  goneText: "이 링크가 만들어진 주소는 더 이상 여기에 저장되어 있지 않으며, 뉴스레터도 발송되지 않습니다.",
  trialTitle: "보기용 링크입니다",
  trialText: "테스트 이메일이나 미리보기에 있는 링크입니다. 누구의 것도 아니며 아무것도 변경되지 않습니다.",
  problemTitle: "처리하지 못했습니다",
  problemText: "변경된 내용이 없습니다. 잠시 후 다시 시도해 주세요.",
  oftenText: "너무 자주 변경되었습니다. 나중에 다시 시도해 주세요.",
  footerReason: "{project} 뉴스레터를 구독하고 계시므로 이 이메일을 보내 드립니다.",
};
