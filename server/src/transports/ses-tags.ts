// The tags with which SES names our mails in its notices, so that a notice finds its mail even before the answer to the request does.
// Before it: ses.ts sends them. After it: deliveries/ses-events.ts reads them back.

export const EMAIL_TAG = "postloft-email";
export const PROJECT_TAG = "postloft-project";
