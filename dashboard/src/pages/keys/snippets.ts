// The first mail in several languages, with the reader's own address of the server and key in it.
const MAIL = {
  to: "ada@example.com",
  from: "hello@sandbox.localhost",
  subject: "Hello",
  body: "<p>It works.</p>",
};

function json(indent: number): string {
  return JSON.stringify(MAIL, null, 2).replaceAll("\n", `\n${" ".repeat(indent)}`);
}

export function firstMail(origin: string, key: string): string {
  return `curl ${origin}/v1/send \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${json(2)}'`;
}

/** Language → program. */
export function snippetsOf(origin: string, key: string): Record<string, string> {
  return {
    curl: firstMail(origin, key),
    "Node.js": `const response = await fetch("${origin}/v1/send", {
  method: "POST",
  headers: {
    Authorization: "Bearer ${key}",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${json(2)}),
});
console.log(await response.json());`,
    Python: `import requests

response = requests.post(
    "${origin}/v1/send",
    headers={"Authorization": "Bearer ${key}"},
    json=${json(4)},
)
print(response.json())`,
    PHP: `<?php
$context = stream_context_create(["http" => [
  "method" => "POST",
  "header" => "Authorization: Bearer ${key}\\r\\nContent-Type: application/json",
  "content" => '${JSON.stringify(MAIL)}',
]]);
echo file_get_contents("${origin}/v1/send", false, $context);`,
    Ruby: `require "net/http"

response = Net::HTTP.post(
  URI("${origin}/v1/send"),
  '${JSON.stringify(MAIL)}',
  "Authorization" => "Bearer ${key}",
  "Content-Type" => "application/json"
)
puts response.body`,
    Go: `body := strings.NewReader(\`${JSON.stringify(MAIL)}\`)
request, _ := http.NewRequest("POST", "${origin}/v1/send", body)
request.Header.Set("Authorization", "Bearer ${key}")
request.Header.Set("Content-Type", "application/json")
response, err := http.DefaultClient.Do(request)`,
  };
}
