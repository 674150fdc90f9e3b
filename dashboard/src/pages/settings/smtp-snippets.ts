// Settings and code of programs that send over SMTP, with the values of a project. Code isn't translated.

export interface SmtpAccess {
  host: string;
  port: number;
  /** `tls` from the first byte, `starttls` before the sign-in, or `none` on one machine. */
  encryption: "tls" | "starttls" | "none";
  user: string;
  password: string;
  sender: string;
}

type Write = (access: SmtpAccess) => string;

const isTls = ({ encryption }: SmtpAccess) => encryption === "tls";
/** Returns the name of the encryption that many programs use: `ssl`, `tls` for STARTTLS, or another word for none. */
const nameOf = ({ encryption }: SmtpAccess, none: string) =>
  encryption === "tls" ? "ssl" : encryption === "starttls" ? "tls" : none;
const schemeOf = (access: SmtpAccess) => (isTls(access) ? "smtps" : "smtp");

const nodemailer: Write = (access) => `const transport = nodemailer.createTransport({
  host: "${access.host}",
  port: ${access.port},
  secure: ${isTls(access)},
  requireTLS: ${access.encryption === "starttls"},
  auth: { user: "${access.user}", pass: "${access.password}" },
});
await transport.sendMail({
  from: "${access.sender}",
  to: "ada@example.com",
  subject: "Hello",
  text: "It works.",
});`;

const python: Write = (access) => `import smtplib
from email.message import EmailMessage

message = EmailMessage()
message["From"] = "${access.sender}"
message["To"] = "ada@example.com"
message["Subject"] = "Hello"
message.set_content("It works.")

with smtplib.${isTls(access) ? "SMTP_SSL" : "SMTP"}("${access.host}", ${access.port}) as smtp:
${access.encryption === "starttls" ? "    smtp.starttls()\n" : ""}    smtp.login("${access.user}", "${access.password}")
    smtp.send_message(message)`;

const django: Write = (access) => `EMAIL_HOST = "${access.host}"
EMAIL_PORT = ${access.port}
EMAIL_USE_TLS = ${access.encryption === "starttls" ? "True" : "False"}
EMAIL_USE_SSL = ${isTls(access) ? "True" : "False"}
EMAIL_HOST_USER = "${access.user}"
EMAIL_HOST_PASSWORD = "${access.password}"
DEFAULT_FROM_EMAIL = "${access.sender}"`;

const laravel: Write = (access) => `MAIL_MAILER=smtp
MAIL_SCHEME=${schemeOf(access)}
MAIL_HOST=${access.host}
MAIL_PORT=${access.port}
MAIL_USERNAME=${access.user}
MAIL_PASSWORD=${access.password}
MAIL_FROM_ADDRESS="${access.sender}"`;

const rails: Write = (access) => `config.action_mailer.default_options = { from: "${access.sender}" }
config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: "${access.host}",
  port: ${access.port},
  user_name: "${access.user}",
  password: "${access.password}",
  authentication: :plain,
  ${isTls(access) ? "tls: true" : `enable_starttls: ${access.encryption === "starttls"}`},
}`;

const wordpress: Write = (access) => `// wp-config.php, with the plugin WP Mail SMTP
define('WPMS_ON', true);
define('WPMS_MAILER', 'smtp');
define('WPMS_SMTP_HOST', '${access.host}');
define('WPMS_SMTP_PORT', ${access.port});
define('WPMS_SSL', '${nameOf(access, "")}');
define('WPMS_SMTP_AUTH', true);
define('WPMS_SMTP_USER', '${access.user}');
define('WPMS_SMTP_PASS', '${access.password}');
define('WPMS_MAIL_FROM', '${access.sender}');`;

const supabase: Write = (access) => `# supabase/config.toml
[auth.email.smtp]
enabled = true
host = "${access.host}"
port = ${access.port}
user = "${access.user}"
pass = "${access.password}"
admin_email = "${access.sender}"
sender_name = "Hello"`;

const authJs: Write = (access) =>
  `EMAIL_SERVER=${schemeOf(access)}://${access.user}:${access.password}@${access.host}:${access.port}
EMAIL_FROM=${access.sender}`;

const grafana: Write = (access) => `[smtp]
enabled = true
host = ${access.host}:${access.port}
user = ${access.user}
password = ${access.password}
from_address = ${access.sender}
startTLS_policy = ${access.encryption === "starttls" ? "MandatoryStartTLS" : "NoStartTLS"}`;

const goMessage: Write = (access) => `message := []byte("From: ${access.sender}\\r\\n" +
	"To: ada@example.com\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n")
auth := smtp.PlainAuth("", "${access.user}", "${access.password}", "${access.host}")`;

const goStartTls: Write = (access) => `${goMessage(access)}
err := smtp.SendMail("${access.host}:${access.port}", auth,
	"${access.sender}", []string{"ada@example.com"}, message)`;

/** `smtp.SendMail` can't begin with TLS. */
const goTls: Write = (access) => `${goMessage(access)}
connection, err := tls.Dial("tcp", "${access.host}:${access.port}", nil)
if err != nil {
	return err
}
client, err := smtp.NewClient(connection, "${access.host}")
if err != nil {
	return err
}
defer client.Close()
if err := client.Auth(auth); err != nil {
	return err
}
if err := client.Mail("${access.sender}"); err != nil {
	return err
}
if err := client.Rcpt("ada@example.com"); err != nil {
	return err
}
writer, err := client.Data()
if err != nil {
	return err
}
if _, err := writer.Write(message); err != nil {
	return err
}
return writer.Close()`;

const msmtp: Write = (access) => `# ~/.msmtprc
account default
host ${access.host}
port ${access.port}
tls ${access.encryption === "none" ? "off" : "on"}
tls_starttls ${access.encryption === "starttls" ? "on" : "off"}
auth plain
user ${access.user}
password ${access.password}
from ${access.sender}`;

const SWAKS_TLS = { tls: " --tls-on-connect", starttls: " --tls", none: "" } as const;
const swaks: Write = (
  access,
) => `swaks --server ${access.host}:${access.port}${SWAKS_TLS[access.encryption]} \\
  --auth PLAIN --auth-user "${access.user}" --auth-password "${access.password}" \\
  --from "${access.sender}" --to ada@example.com --header "Subject: Hello" --body "It works."`;

const WRITERS: Readonly<Record<string, Write>> = {
  Nodemailer: nodemailer,
  Python: python,
  Django: django,
  Laravel: laravel,
  Rails: rails,
  WordPress: wordpress,
  Supabase: supabase,
  "Auth.js": authJs,
  Grafana: grafana,
  Go: (access) => (isTls(access) ? goTls(access) : goStartTls(access)),
  msmtp,
  swaks,
};

/** Returns the settings or the code by the name of the program. */
export function smtpSnippetsOf(access: SmtpAccess): Record<string, string> {
  return Object.fromEntries(Object.entries(WRITERS).map(([name, write]) => [name, write(access)]));
}

/** An address that needs no quotes in any of the languages. */
const PLAIN_ADDRESS = /^[a-z0-9._+-]+@[a-z0-9.-]+$/i;

/** Returns the address of a sender such as `Pat <pat@shop.example>`, or an example at its domain if code would have to quote it. */
export function plainSenderOf(sender: string): string {
  const address = /<([^<>]*)>$/.exec(sender)?.[1] ?? sender;
  if (PLAIN_ADDRESS.test(address)) return address;
  return `hello@${address.slice(address.lastIndexOf("@") + 1)}`;
}
