// Expected results of importing the exports in this folder, for the tests of the reader, the API and the wizard.

export interface ExpectedExport {
  /** The file name without `.csv`. */
  name: string;
  /** The header of the email column. */
  email: string;
  /** Local parts of the people, all at example.org. */
  subscribed: readonly string[];
  /** Contacts that must not end up subscribed. */
  left: readonly string[];
  /** Reported rows, with the row numbers of a spreadsheet. */
  reported?: readonly number[];
  /** Headers of the status columns. */
  statuses?: readonly string[];
  /** The error with which the whole file is rejected before anything is stored. */
  refused?: RegExp;
}

export const EXPECTED_EXPORTS: readonly ExpectedExport[] = [
  {
    name: "activecampaign",
    email: "Email",
    subscribed: ["ac1"],
    left: ["ac2"],
    statuses: ["Status", "*List: News*"],
  },
  {
    name: "brevo",
    email: "EMAIL",
    subscribed: ["br1"],
    left: ["br2"],
    statuses: ["DOUBLE_OPT-IN", "OPT_IN", "EMAIL_BLACKLISTED"],
  },
  { name: "drip", email: "email", subscribed: ["dr1"], left: ["dr2"], statuses: ["status"] },
  {
    name: "duplicate-columns",
    email: "email",
    subscribed: [],
    left: ["dc1"],
    refused: /same name as column 4: "Name"/,
  },
  { name: "excel-fr-semicolon-bom", email: "Adresse e-mail", subscribed: ["xf1"], left: [] },
  { name: "excel-sep-line", email: "email", subscribed: ["xs1"], left: [] },
  { name: "excel-utf16le-tab", email: "E-Mail", subscribed: ["xu1"], left: [] },
  { name: "getresponse", email: "email", subscribed: ["gr1"], left: [] },
  {
    name: "ghost",
    email: "email",
    subscribed: ["gh1"],
    left: ["gh2"],
    statuses: ["subscribed_to_emails", "deleted_at"],
  },
  {
    name: "hubspot",
    email: "Email",
    subscribed: ["hs1"],
    left: ["hs2"],
    statuses: ["Marketing contact status", "Unsubscribed from all email"],
  },
  { name: "kit-convertkit", email: "email", subscribed: ["ck1"], left: ["ck2", "ck3"], statuses: ["status"] },
  {
    name: "klaviyo-profiles",
    email: "Email",
    subscribed: ["kl1"],
    left: ["kl2", "kl3"],
    statuses: ["Email Marketing Consent", "Accepts Marketing"],
  },
  { name: "loops", email: "email", subscribed: ["lp1"], left: ["lp2"], statuses: ["subscribed"] },
  { name: "mailchimp-audience", email: "Email Address", subscribed: ["mc1", "mc2"], left: [] },
  {
    name: "mailchimp-cleaned",
    email: "Email Address",
    subscribed: [],
    left: ["mcc1"],
    statuses: ["CLEAN_TIME"],
  },
  {
    name: "mailchimp-status-column",
    email: "Email Address",
    subscribed: ["mcs1"],
    left: ["mcs2", "mcs3", "mcs4"],
    statuses: ["Status"],
  },
  {
    name: "mailchimp-unsubscribed",
    email: "Email Address",
    subscribed: [],
    left: ["mcu1"],
    statuses: ["UNSUB_TIME"],
  },
  { name: "mailerlite", email: "Subscriber", subscribed: ["ml1"], left: ["ml2"], statuses: ["Status"] },
  { name: "mailjet", email: "email", subscribed: ["mj1"], left: [], statuses: ["isexcluded"] },
  { name: "mautic", email: "email", subscribed: ["mt1"], left: [], statuses: ["do_not_contact"] },
  {
    name: "name-angle",
    email: "email",
    subscribed: ["na1", "na2", "na3", "na6"],
    left: ["na4", "na5"],
    reported: [5],
  },
  { name: "one-column-no-header", email: "Column 1", subscribed: ["nh1", "nh2", "nh3"], left: [] },
  { name: "outlook-contacts", email: "E-mail Address", subscribed: ["ol1"], left: [], reported: [3] },
  { name: "plunk", email: "email", subscribed: ["pl1"], left: ["pl2"], statuses: ["subscribed"] },
  { name: "resend", email: "email", subscribed: ["rs1"], left: ["rs2"], statuses: ["unsubscribed"] },
  {
    name: "reserved-columns",
    email: "email",
    subscribed: [],
    left: ["rc1"],
    refused: /Column 7 cannot be a key of data: The name constructor/,
  },
  { name: "sendgrid-contacts", email: "EMAIL", subscribed: ["sg1"], left: [] },
  {
    name: "sendgrid-suppressions",
    email: "email",
    subscribed: [],
    left: ["sgs1", "sgs2"],
    statuses: ["created"],
  },
  {
    name: "shopify-customers",
    email: "Email",
    subscribed: ["sh1"],
    left: ["sh2"],
    reported: [4],
    statuses: ["Accepts Email Marketing"],
  },
  { name: "stripe-customers", email: "Email", subscribed: ["st1", "st2"], left: [] },
  {
    name: "subscribed-words",
    email: "email",
    subscribed: ["sw1", "sw3", "sw5", "sw6", "sw8", "sw9", "sw10", "sw11"],
    left: ["sw2", "sw4", "sw7"],
    statuses: ["subscribed"],
  },
  {
    name: "substack",
    email: "email",
    subscribed: ["ss1", "ss2"],
    left: ["ss3"],
    statuses: ["email_disabled"],
  },
  { name: "title-row-above", email: "email", subscribed: ["tr1"], left: [] },
  { name: "types", email: "email", subscribed: ["ty1"], left: [] },
  { name: "woocommerce-customers", email: "Email", subscribed: ["wc1", "wc2"], left: [] },
];
