// Patterns for bounce reports written for people: the server's signature, where the original email begins, and boilerplate. Taken from the
// known wording of these servers.

interface Form {
  server: string;
  sign: RegExp;
}

/**
 * Server software whose wording is trusted without an SMTP code. Reports of other servers are read too, but their words alone never
 * unsubscribe a contact.
 */
export const FORMS: readonly Form[] = [
  { server: "Exim", sign: /created automatically by (?:mail delivery software|the smtp relay)/i },
  {
    server: "qmail",
    sign: /this is the qmail-send program|i'm afraid i wasn't able to deliver your message/i,
  },
  {
    server: "Postfix",
    sign: /this is the (?:postfix program|mail system) at host|i'm sorry to have to inform you that/i,
  },
  {
    server: "sendmail",
    sign: /transcript of session follows|the following addresses had permanent fatal errors|unsent message follows/i,
  },
  { server: "OpenSMTPD", sign: /this is the mailer-daemon, please do not reply/i },
  { server: "DragonFly Mail Agent", sign: /this is the dragonfly mail agent/i },
  {
    server: "Gmail",
    sign: /delivery to the following recipient(?:s)? failed permanently|technical details of permanent failure|address not found\b/i,
  },
  { server: "Google Groups", sign: /groups\.google\.com\/support/i },
  { server: "Yahoo", sign: /we were unable to deliver your message to the following address/i },
  {
    server: "Exchange",
    sign: /did not reach the following recipient|MSEXCH:|this is an automatically generated delivery status notification/i,
  },
  {
    server: "Domino",
    sign: /(?:domino directory|public name & address book|was not delivered to:[^]{0,400}because:)/i,
  },
  { server: "InterScan", sign: /interscan messaging security suite/i },
  {
    server: "IMail",
    sign: /^undeliverable mail\n|undeliverable to |unknown (?:local )?user: \S{1,80}@|invalid final delivery userid/im,
  },
  { server: "MailFoundry", sign: /unable to deliver message to: </i },
  { server: "MailMarshal", sign: /your message:[^]{0,800}could not be delivered because of/i },
  {
    server: "Courier",
    sign: /your message to the following recipients cannot be delivered|undeliverable mail[^]{0,200}courier/i,
  },
  { server: "smail", sign: /message log follows/i },
  { server: "SurfControl", sign: /your message could not be sent[^]{0,400}(?:a transcript|surfcontrol)/i },
  { server: "AOL", sign: /your mail to the following recipients could not be delivered/i },
  { server: "Verizon", sign: /error: invalid user address/i },
  { server: "Zoho", sign: /ERROR_CODE ?:/ },
  { server: "KDDI", sign: /your mail (?:sent on|attempted to be delivered on)/i },
  {
    server: "EZweb",
    sign: /each of the following recipients was rejected by a remote|the user\(s\) account is (?:disabled|temporarily limited)/i,
  },
  { server: "McAfee", sign: /mcafee|--- the following addresses had delivery problems ---/i },
  {
    server: "MessagingServer",
    sign: /this report relates to a message you sent with the following header fields/i,
  },
  { server: "GroupWise", sign: /groupwise|the message that you sent was undeliverable to the following/i },
  { server: "Zimbra", sign: /zimbra/i },
  { server: "Mercury", sign: /mercury\/32|your message was not delivered to the following/i },
  { server: "MDaemon", sign: /session transcript|mdaemon/i },
  { server: "CommuniGate", sign: /failed to deliver to '/i },
  {
    server: "Mimecast",
    sign: /this is a delivery failure notification message indicating|an email that you attempted to send to the following address could not be delivered/i,
  },
  { server: "Lotus SMTP", sign: /failure reasons {1,4}-{3,}/i },
  { server: "Activehunter", sign: />>>> ?permanent|the following address(?:es)? failed/i },
  { server: "Biglobe", sign: /the following addresses had delivery (?:problems|errors)[^]{0,10}-----/i },
  { server: "FML", sign: /loop alert|loop back warning|you are not a member|not member/i },
];

/** Marks the start of the original email within a report. */
export const ORIGINAL_BEGINS = new RegExp(
  [
    "^[ \\t>|*=]{0,8}[-=|]{2,80}[ \\t]{0,4}(?:this is a copy of|below this line|the header of|the headers? of|original message|message headers?|unsent message|message text|returned message|returned mail|included is|forwarded message|undelivered message|message (?:enclosed|follows|body|contents)|your (?:original )?message|begin (?:of )?(?:original|message)|start of)",
    "^[ \\t>]{0,8}(?:original message (?:follows|header|headers)|message headers? follows?|below is a copy of the original|included is a copy of the|the original message (?:follows|headers? (?:are|follow)|is (?:attached|included))|your original message|headers? of the original|a copy of the original|original mail as follows|this is a copy of the message|message details:|-{5,}original|reporting-mta:)",
    "^[ \\t>]{0,8}(?:received: ?(?:from|by|\\()|return-path: ?<|message-id: ?<|dkim-signature:|x-mailer:|mime-version:)",
  ].join("|"),
  "im",
);

/** Boilerplate sentences that would otherwise be taken for a reason. */
export const NOISE = new RegExp(
  [
    "this is a permanent error[^.\\n]{0,60}\\.?",
    "(?:i'm|i am) afraid i wasn't able to deliver[^.\\n]{0,80}\\.?",
    "we recommend contacting the other email provider[^.\\n]{0,120}\\.?",
    "could not\\s{1,4}be delivered to (?:one or more|all|any|some)[^.\\n]{0,80}",
    "invalid address, (?=error_code)",
    "error_code ?:",
    "please check (?:the|your) (?:address|spelling)[^.\\n]{0,80}\\.?",
    "(?:for )?further assistance[^\\n]{0,120}",
    "no further delivery attempts will be made",
    "giving up on \\S{1,80}",
    "^[ \\t]{0,8}(?:subject|date|sent|from|message-id|x-mailer|cc|sent date|size \\(in bytes\\)|number of lines) ?:[^\\n]{0,400}$",
    "https?:\\/\\/\\S{0,40}(?:faq|reason)\\S{0,80}",
    "mail delivery (?:failed|system|subsystem)",
    "MAILER-DAEMON",
  ].join("|"),
  "gim",
);

/** The server is still trying. */
export const DELAYED =
  /warning message only|(?:has|have) been (?:temporarily )?delayed|is delayed for|(?:do not|don't) need to re-?send|temporary failure report|not yet been delivered|will (?:be retried|continue (?:to try|trying)|keep trying|try again)|still (?:trying|in the queue|undelivered)|\(delay(?:ed)?\)|delivery status notification: (?:warning|delayed)|could not send (?:message|mail) for past|delivery delayed/i;

/** The server has given up. */
export const GIVEN_UP =
  /permanent(?:ly)? (?:error|fail|fatal|undeliver)|failed permanently|(?:gave|given|giving) up|no longer (?:try|be tried)|will not (?:be retried|try)|has failed|not going to try again/i;
