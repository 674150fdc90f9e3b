// Tags that identify our emails in SES notices, so that a notice finds its email even if it arrives before the response to the request.

export const EMAIL_TAG = "postloft-email";
export const PROJECT_TAG = "postloft-project";
