// The tags with which SES names our mails in its notices, so that a notice finds its mail even before the answer to the request does.

export const EMAIL_TAG = "postloft-email";
export const PROJECT_TAG = "postloft-project";
