// Code samples that send a first email, with the user's server URL and key.
function mailFrom(sender: string) {
  return { to: "ada@example.com", from: sender, subject: "Hello", body: "<p>It works.</p>" };
}

/** Returns JSON without single quotes, so that shell samples can quote it. */
function json(sender: string, indent?: number): string {
  const text = JSON.stringify(mailFrom(sender), null, indent === undefined ? 0 : 2);
  return text.replaceAll("'", "\\u0027").replaceAll("\n", `\n${" ".repeat(indent ?? 0)}`);
}

function firstMail(origin: string, key: string, sender: string): string {
  return `curl ${origin}/v1/send \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${json(sender, 2)}'`;
}

/** Returns code samples by language. */
export function snippetsOf(origin: string, key: string, sender: string): Record<string, string> {
  return {
    curl: firstMail(origin, key, sender),
    "Node.js": `const response = await fetch("${origin}/v1/send", {
  method: "POST",
  headers: {
    Authorization: "Bearer ${key}",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${json(sender, 2)}),
});
console.log(await response.json());`,
    Python: `import requests

response = requests.post(
    "${origin}/v1/send",
    headers={"Authorization": "Bearer ${key}"},
    json=${json(sender, 4)},
)
print(response.json())`,
    PHP: `<?php
$context = stream_context_create(["http" => [
  "method" => "POST",
  "header" => "Authorization: Bearer ${key}\\r\\nContent-Type: application/json",
  "content" => '${json(sender)}',
]]);
echo file_get_contents("${origin}/v1/send", false, $context);`,
    Ruby: `require "net/http"

response = Net::HTTP.post(
  URI("${origin}/v1/send"),
  '${json(sender)}',
  "Authorization" => "Bearer ${key}",
  "Content-Type" => "application/json"
)
puts response.body`,
    Go: `body := strings.NewReader(\`${json(sender)}\`)
request, _ := http.NewRequest("POST", "${origin}/v1/send", body)
request.Header.Set("Authorization", "Bearer ${key}")
request.Header.Set("Content-Type", "application/json")
response, err := http.DefaultClient.Do(request)`,
  };
}
