// Parses the `ses://` URL from the setting MAIL_TRANSPORT.

/** An SES region that accepts email. The access key is configured separately. */
export interface SesServer {
  /** Region such as `eu-west-1`, used for the endpoint and the signature. */
  region: string;
  /** Overrides `https://email.<region>.amazonaws.com`, without a path. */
  endpoint?: string;
  /** The SES configuration set with event destinations that report bounces and complaints. */
  configurationSet?: string;
  /** The SES tenant to send as, which has its own reputation. `{project}` stands for the project's id. */
  tenant?: string;
  /** Maximum number of concurrent messages. */
  connections?: number;
}

const MAX_SES_CONNECTIONS = 200;

const REGION = /^[a-z]{2,8}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;
/** API reference of SESv2, CreateConfigurationSet: letters, digits, _ and -, at most 64. */
const CONFIGURATION_SET = /^[A-Za-z0-9_-]{1,64}$/;
/** Stands for the id of the project in the name of a tenant. */
export const PROJECT_IN_TENANT = "{project}";
/** API reference of SESv2, CreateTenant: letters, digits, _ and -, at most 64. */
const TENANT = /^(?=.)[A-Za-z0-9_-]*(?:\{project\}[A-Za-z0-9_-]*)?$/;
const MAX_TENANT_LENGTH = 64;
const PROJECT_ID_LENGTH = 36;
const OPTION_NAMES = ["endpoint", "configurationSet", "tenant", "connections"];

/**
 * Parses `ses://eu-west-1?configurationSet=events&connections=20&endpoint=http://127.0.0.1:1234`.
 * @throws Error with the reason, without quoting the input
 */
export function parseSesUrl(text: string): SesServer {
  if (!URL.canParse(text)) throw badUrl("it is not a URL of the form ses://region");
  const url = new URL(text);
  if (url.protocol !== "ses:") throw badUrl("it must begin with ses://");
  if (url.username !== "" || url.password !== "")
    throw badUrl("the access key belongs in SES_ACCESS_KEY_ID and SES_SECRET_ACCESS_KEY");
  if (!REGION.test(url.hostname)) throw badUrl("ses:// must be followed by a region such as eu-west-1");
  if (url.port !== "" || (url.pathname !== "" && url.pathname !== "/") || url.hash !== "")
    throw badUrl("only options may follow the region");
  return { region: url.hostname, ...parseOptions(url.searchParams) };
}

function parseOptions(options: URLSearchParams): Omit<SesServer, "region"> {
  const input = [...options.keys()];
  if (input.some((name) => !OPTION_NAMES.includes(name)))
    throw badUrl(`unknown option; valid options are ${OPTION_NAMES.join(", ")}`);
  if (new Set(input).size < input.length) throw badUrl("an option is set twice");
  const endpoint = options.get("endpoint");
  const configurationSet = options.get("configurationSet");
  const tenant = options.get("tenant");
  const connections = options.get("connections");
  return {
    ...(endpoint === null ? {} : { endpoint: parseEndpoint(endpoint) }),
    ...(configurationSet === null ? {} : { configurationSet: parseConfigurationSet(configurationSet) }),
    ...(tenant === null ? {} : { tenant: parseTenant(tenant) }),
    ...(connections === null ? {} : { connections: parseConnections(connections) }),
  };
}

function parseEndpoint(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // The origin equals the whole URL, so it has no login, path or query.
  if (url === undefined || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href)
    throw badUrl("option endpoint must be http(s)://host:port");
  return url.origin;
}

function parseConfigurationSet(value: string): string {
  if (!CONFIGURATION_SET.test(value))
    throw badUrl("option configurationSet must be 1 to 64 letters, digits, _ and -");
  return value;
}

function parseTenant(value: string): string {
  if (
    !TENANT.test(value) ||
    value.replace(PROJECT_IN_TENANT, "x".repeat(PROJECT_ID_LENGTH)).length > MAX_TENANT_LENGTH
  )
    throw badUrl(
      "option tenant must be 1 to 64 letters, digits, _ and -, in which {project} stands for the project's id",
    );
  return value;
}

function parseConnections(value: string): number {
  const connections = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (connections < 1 || connections > MAX_SES_CONNECTIONS)
    throw badUrl(`option connections must be a number from 1 to ${MAX_SES_CONNECTIONS}`);
  return connections;
}

function badUrl(reason: string): Error {
  return new Error(`The SES URL cannot be used: ${reason}.`);
}
