// Hindi texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const hi: PageTexts = {
  unsubscribeTitle: "क्या आप सदस्यता समाप्त करना चाहते हैं?",
  unsubscribeText: "इसके बाद {email} पर {project} के न्यूज़लेटर नहीं आएँगे।",
  unsubscribeButton: "सदस्यता समाप्त करें",
  unsubscribedTitle: "आपकी सदस्यता समाप्त हो गई है",
  unsubscribedText: "{email} पर अब {project} के न्यूज़लेटर नहीं आते।",
  accountNote: "आपके खाते या ऑर्डर से जुड़े संदेशों पर इसका कोई असर नहीं पड़ता।",
  keptNote: "यह पता अब संपर्क सूची में नहीं है। दोबारा जोड़े जाने पर भी इसकी सदस्यता बंद रहेगी।",
  undoButton: "वापस लें",
  subscribeTitle: "क्या आप सदस्यता लेना चाहते हैं?",
  subscribeText: "इसके बाद {email} पर {project} के न्यूज़लेटर आएँगे।",
  subscribeButton: "सदस्यता लें",
  subscribedTitle: "आपकी सदस्यता चालू है",
  subscribedText: "{email} पर {project} के न्यूज़लेटर आते हैं।",
  manageTitle: "आपकी सदस्यता",
  manageLink: "सदस्यता प्रबंधित करें",
  invalidTitle: "यह लिंक काम नहीं करता",
  invalidText: "यह अधूरा या अमान्य है। कृपया ईमेल में दिया गया लिंक फिर से खोलें।",
  goneTitle: "आपके बारे में कुछ भी सहेजा नहीं गया है",
  goneText: "जिस पते के लिए यह लिंक बनाया गया था, वह अब यहाँ सहेजा नहीं है और उस पर न्यूज़लेटर नहीं आते।",
  trialTitle: "यह लिंक केवल दिखाने के लिए है",
  trialText: "यह किसी परीक्षण ईमेल या पूर्वावलोकन में है: यह किसी का नहीं है और इससे कुछ नहीं बदलता।",
  problemTitle: "यह नहीं हो सका",
  problemText: "कुछ भी बदला नहीं गया। कृपया थोड़ी देर में फिर से कोशिश करें।",
  oftenText: "इसे बहुत बार बदला गया है। कृपया बाद में फिर से कोशिश करें।",
  footerReason: "आपको यह ईमेल इसलिए मिला है क्योंकि आपने {project} के न्यूज़लेटर की सदस्यता ली है।",
};
