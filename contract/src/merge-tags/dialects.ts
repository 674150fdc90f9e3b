// Merge tags of other email services as data, with their syntax and their meaning.

export type Service =
  | "ActiveCampaign"
  | "Kit"
  | "Liquid"
  | "listmonk"
  | "Loops"
  | "Mailchimp"
  | "MailerLite"
  | "Mailgun"
  | "SendGrid";

/**
 * The meaning of a tag: a contact field, a variable of every email, a fixed text, or `null` if Postloft has no equivalent. An empty `text`
 * means that the tag can be removed.
 */
export type Meaning =
  | { field: string }
  | { variable: string }
  | { text: "" | "postalAddress" | "projectName" | "year" }
  | null;

const UNSUBSCRIBE: Meaning = { variable: "unsubscribeUrl" };
const MANAGE: Meaning = { variable: "manageUrl" };
const EMAIL: Meaning = { variable: "email" };
const FIRST_NAME: Meaning = { field: "firstName" };
const LAST_NAME: Meaning = { field: "lastName" };
const NAME: Meaning = { field: "name" };
const POSTAL_ADDRESS: Meaning = { text: "postalAddress" };
const PROJECT_NAME: Meaning = { text: "projectName" };
const YEAR: Meaning = { text: "year" };
const NOTHING: Meaning = { text: "" };

export interface Dialect {
  service: Service;
  /** The first character of each tag. */
  begins: string;
  /** Sticky and bounded. Its group `name` is looked up in the tables below. */
  form: RegExp;
  tags: Readonly<Record<string, Meaning>>;
  /**
   * Handling of unlisted tags. `field` takes each for a contact field. `proven` does so only if the email also contains a listed tag of the
   * same service, because the form alone occurs in normal text (`%SALE%`).
   */
  others: "field" | "none" | "proven";
  /** Whether names are the sender's keys and stay unchanged. Otherwise `LAST_ORDER` becomes `lastOrder`. */
  keepsNames: boolean;
}

/** Tags outside of double braces, tried in this order. */
export const DIALECTS: readonly Dialect[] = [
  {
    service: "Mailchimp",
    begins: "*",
    // Editors write the bars in URLs as %7C.
    form: /\*(?:\||%7C)(?<name>[A-Za-z][^|*%\r\n]{0,200})(?:\||%7C)\*/iy,
    tags: {
      FNAME: FIRST_NAME,
      LNAME: LAST_NAME,
      EMAIL,
      UNSUB: UNSUBSCRIBE,
      UPDATE_PROFILE: MANAGE,
      "LIST:ADDRESS": POSTAL_ADDRESS,
      "LIST:ADDRESSLINE": POSTAL_ADDRESS,
      LIST_ADDRESS: POSTAL_ADDRESS,
      "HTML:LIST_ADDRESS_HTML": POSTAL_ADDRESS,
      "LIST:ADDRESS_VCARD": NOTHING,
      LIST_ADDRESS_HTML: POSTAL_ADDRESS,
      CURRENT_YEAR: YEAR,
      "LIST:COMPANY": PROJECT_NAME,
      "LIST:DESCRIPTION": NOTHING,
      "LIST:NAME": PROJECT_NAME,
      "LIST:URL": null,
      "MC:SUBJECT": NOTHING,
      MC_PREVIEW_TEXT: NOTHING,
      ARCHIVE: NOTHING,
      ARCHIVE_PAGE: NOTHING,
      FORWARD: NOTHING,
      REWARDS: NOTHING,
      "HTML:REWARDS": NOTHING,
      REWARDS_TEXT: NOTHING,
    },
    others: "field",
    keepsNames: false,
  },
  {
    service: "Mailgun",
    begins: "%",
    form: /%(?<name>recipient\.[A-Za-z_][\w.-]{0,60}|recipient(?:_(?:f|l)?name|_email)?|(?:mailing_list_|tag_)?unsubscribe_url)%/y,
    tags: {
      recipient: EMAIL,
      recipient_email: EMAIL,
      recipient_name: NAME,
      recipient_fname: FIRST_NAME,
      recipient_lname: LAST_NAME,
      "recipient.email": EMAIL,
      unsubscribe_url: UNSUBSCRIBE,
      mailing_list_unsubscribe_url: UNSUBSCRIBE,
      tag_unsubscribe_url: UNSUBSCRIBE,
    },
    others: "field",
    keepsNames: true,
  },
  {
    service: "ActiveCampaign",
    begins: "%",
    form: /%(?<name>[A-Z][A-Z\d_-]{2,60})%(?![\w%])/y,
    tags: {
      FIRSTNAME: FIRST_NAME,
      LASTNAME: LAST_NAME,
      FULLNAME: NAME,
      EMAIL,
      UNSUBSCRIBELINK: UNSUBSCRIBE,
      UPDATELINK: MANAGE,
      "SENDER-INFO": POSTAL_ADDRESS,
      "SENDER-INFO-SINGLELINE": POSTAL_ADDRESS,
      WEBCOPY: NOTHING,
      SOCIALSHARE: NOTHING,
      FORWARD2FRIEND: NOTHING,
    },
    others: "proven",
    keepsNames: false,
  },
  {
    service: "MailerLite",
    begins: "{",
    form: /\{\$(?<name>[A-Za-z_][\w.]{0,60})\}/y,
    tags: {
      name: NAME,
      email: EMAIL,
      last_name: LAST_NAME,
      unsubscribe: UNSUBSCRIBE,
      preferences: MANAGE,
      url: NOTHING,
    },
    others: "field",
    keepsNames: false,
  },
  {
    service: "Loops",
    begins: "{",
    form: /\{(?:DATA_VARIABLE|CONTACT_PROPERTY|EVENT_PROPERTY):\s?(?<name>[A-Za-z_][\w.-]{0,60})\}/y,
    tags: {},
    others: "field",
    keepsNames: true,
  },
  {
    service: "Loops",
    begins: "{",
    form: /\{(?<name>unsubscribe_link)\}/y,
    tags: { unsubscribe_link: UNSUBSCRIBE },
    others: "none",
    keepsNames: true,
  },
  {
    service: "SendGrid",
    begins: "<",
    form: /<%[ ]?(?<name>[A-Za-z][\w.]{0,60})[ ]?%>/y,
    tags: {
      body: NOTHING,
      subject: NOTHING,
      unsubscribe: UNSUBSCRIBE,
      asm_group_unsubscribe_raw_url: UNSUBSCRIBE,
      asm_group_unsubscribe_url: UNSUBSCRIBE,
      asm_global_unsubscribe_raw_url: UNSUBSCRIBE,
      asm_preferences_raw_url: MANAGE,
      asm_preferences_url: MANAGE,
    },
    others: "field",
    keepsNames: true,
  },
  {
    service: "listmonk",
    begins: "@",
    form: /(?<name>@TrackLink)\b/y,
    tags: { "@TrackLink": NOTHING },
    others: "none",
    keepsNames: true,
  },
];

/**
 * Names in double braces that other services fill in. Here they would be variables without a value, so each counts only if neither a
 * contact nor the call has a field with that name.
 */
export const MUSTACHE_NAMES: Readonly<Record<string, readonly [Service, Meaning]>> = {
  unsubscribe: ["SendGrid", UNSUBSCRIBE],
  unsubscribe_preferences: ["SendGrid", MANAGE],
  weblink: ["SendGrid", NOTHING],
  Sender_Address: ["SendGrid", POSTAL_ADDRESS],
  Sender_City: ["SendGrid", NOTHING],
  Sender_State: ["SendGrid", NOTHING],
  Sender_Zip: ["SendGrid", NOTHING],
  UnsubscribeURL: ["listmonk", UNSUBSCRIBE],
  ManageURL: ["listmonk", MANAGE],
  MessageURL: ["listmonk", NOTHING],
  TrackView: ["listmonk", NOTHING],
  unsubscribe_url: ["Kit", UNSUBSCRIBE],
  unsubscribe_link: ["Kit", UNSUBSCRIBE],
  subscriber_preferences_url: ["Kit", MANAGE],
  "subscriber.first_name": ["Kit", FIRST_NAME],
  "subscriber.last_name": ["Kit", LAST_NAME],
  "subscriber.email_address": ["Kit", EMAIL],
  "subscriber.email": ["Kit", EMAIL],
};

/** listmonk's `{{ .Subscriber.Name }}`, without the leading dot. */
export const LISTMONK_PATHS: Readonly<Record<string, Meaning>> = {
  "Subscriber.Name": NAME,
  "Subscriber.FirstName": FIRST_NAME,
  "Subscriber.LastName": LAST_NAME,
  "Subscriber.Email": EMAIL,
  "Subscriber.UUID": { variable: "id" },
};
