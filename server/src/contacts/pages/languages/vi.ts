// Vietnamese texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const vi: PageTexts = {
  unsubscribeTitle: "Bạn muốn hủy đăng ký?",
  unsubscribeText: "{email} sẽ không còn nhận bản tin từ {project}.",
  unsubscribeButton: "Hủy đăng ký",
  unsubscribedTitle: "Bạn đã hủy đăng ký",
  unsubscribedText: "{email} không còn nhận bản tin từ {project}.",
  accountNote: "Các thư về tài khoản hoặc đơn hàng của bạn không bị ảnh hưởng.",
  keptNote:
    "Địa chỉ này không còn trong danh sách liên hệ. Địa chỉ vẫn ở trạng thái đã hủy đăng ký dù được thêm lại.",
  undoButton: "Hoàn tác",
  subscribeTitle: "Bạn muốn đăng ký?",
  subscribeText: "{email} sẽ nhận bản tin từ {project}.",
  subscribeButton: "Đăng ký",
  subscribedTitle: "Bạn đang đăng ký",
  subscribedText: "{email} nhận bản tin từ {project}.",
  manageTitle: "Đăng ký của bạn",
  manageLink: "Quản lý đăng ký",
  invalidTitle: "Liên kết này không hoạt động",
  invalidText: "Liên kết không đầy đủ hoặc không hợp lệ. Vui lòng mở lại liên kết trong email.",
  goneTitle: "Không có thông tin nào về bạn được lưu",
  goneText: "Địa chỉ mà liên kết này được tạo cho không còn được lưu ở đây và không nhận bản tin.",
  trialTitle: "Liên kết này chỉ để minh họa",
  trialText:
    "Liên kết này nằm trong email thử nghiệm hoặc bản xem trước: không thuộc về ai và không thay đổi gì.",
  problemTitle: "Không thực hiện được",
  problemText: "Không có gì thay đổi. Vui lòng thử lại sau giây lát.",
  oftenText: "Mục này đã được thay đổi quá nhiều lần. Vui lòng thử lại sau.",
  footerReason: "Bạn nhận được email này vì đã đăng ký nhận bản tin từ {project}.",
};
