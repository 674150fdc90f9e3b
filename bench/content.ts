// The content of benchmark emails: 20 KB of HTML with 12 links and 6 variables, half of it text, as in a typical newsletter.

const LINKS = 12;
const TEXT = "Nothing rises as slowly as bread that somebody waits for. ".repeat(12);

const section = (at: number) => `
    <tr><td style="padding:0 24px 8px 24px;font-family:Helvetica,Arial,sans-serif;color:#222222;">
      <h2 style="margin:0 0 8px 0;font-size:20px;line-height:28px;font-weight:600;">News of the week</h2>
      <p style="margin:0 0 16px 0;font-size:16px;line-height:24px;color:#444444;">${TEXT}</p>
    </td></tr>
    <tr><td align="left" style="padding:0 24px 32px 24px;">
      <table role="presentation" border="0" cellpadding="0" cellspacing="0" style="border-collapse:separate;"><tr>
        <td align="center" bgcolor="#1a56db" style="border-radius:4px;background-color:#1a56db;">
          <a href="https://shop.example/offer/${at}?from=mail&amp;to=shop" target="_blank"
            style="display:inline-block;padding:12px 24px;font-family:Helvetica,Arial,sans-serif;font-size:16px;font-weight:600;color:#ffffff;text-decoration:none;border:1px solid #1a56db;">See the offer</a>
        </td>
      </tr></table>
    </td></tr>`;

export const SUBJECT = "News for readers";
export const HTML = `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"></head>
<body style="margin:0;padding:0;background-color:#f4f4f5;">
  <table role="presentation" border="0" cellpadding="0" cellspacing="0" width="600" align="center" style="background-color:#ffffff;">
    <tr><td style="padding:32px 24px;font-size:16px;">Hello {{firstName ?? "there"}} {{lastName}}, {{company}}, {{city}}: {{plan}}, {{points}}.</td></tr>${Array.from(
      { length: LINKS },
      (_, at) => section(at),
    ).join("")}
  </table>
</body></html>`;

/** SQL for the data of contact number `n`: the variables of the HTML, some of which differ between contacts. */
export const CONTACT_DATA = `jsonb_build_object('firstName', 'Ada ' || n, 'lastName', 'Lovelace', 'company', 'Engines & Co',
  'city', 'London', 'plan', case when n % 5 = 0 then 'pro' else 'free' end, 'points', n)`;
