// Indonesian texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const id: PageTexts = {
  unsubscribeTitle: "Anda ingin berhenti berlangganan?",
  unsubscribeText: "{email} tidak akan lagi menerima buletin dari {project}.",
  unsubscribeButton: "Berhenti berlangganan",
  unsubscribedTitle: "Anda telah berhenti berlangganan",
  unsubscribedText: "{email} tidak lagi menerima buletin dari {project}.",
  accountNote: "Pesan tentang akun atau pesanan Anda tidak terpengaruh.",
  keptNote:
    "Alamat ini tidak ada lagi dalam daftar kontak. Alamat ini tetap berhenti berlangganan meskipun ditambahkan lagi.",
  undoButton: "Urungkan",
  subscribeTitle: "Anda ingin berlangganan?",
  subscribeText: "{email} akan menerima buletin dari {project}.",
  subscribeButton: "Berlangganan",
  subscribedTitle: "Anda berlangganan",
  subscribedText: "{email} menerima buletin dari {project}.",
  manageTitle: "Langganan Anda",
  manageLink: "Kelola langganan",
  invalidTitle: "Tautan ini tidak berfungsi",
  invalidText: "Tautan tidak lengkap atau tidak valid. Silakan buka kembali tautan di email.",
  goneTitle: "Tidak ada data tentang Anda yang tersimpan",
  goneText: "Alamat yang dituju tautan ini tidak lagi tersimpan di sini dan tidak menerima buletin.",
  trialTitle: "Tautan ini hanya contoh",
  trialText:
    "Tautan ini berasal dari email uji coba atau pratinjau: bukan milik siapa pun dan tidak mengubah apa pun.",
  problemTitle: "Tidak berhasil",
  problemText: "Tidak ada yang diubah. Silakan coba lagi sebentar lagi.",
  oftenText: "Ini sudah terlalu sering diubah. Silakan coba lagi nanti.",
  footerReason: "Anda menerima email ini karena berlangganan buletin dari {project}.",
};
