// Defines the formats of settings and the messages for invalid ones. Pure.
import { isIP } from "node:net";
import { z } from "zod";
import { parseAddress, parseMailbox } from "@postloft/contract/address.ts";
import { parseFailpoint } from "../failpoints.ts";
import type { Access } from "../http/guards.ts";

/** Returns one message for any invalid value. */
const must = (what: string) => ({ error: `must be ${what}` });

export const flag = z
  .enum(["true", "false", "1", "0"], must("true or false"))
  .transform((text) => text === "true" || text === "1");
/** Accepts one of a few words. */
export const word = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, must(`one of ${words.join(", ")}`));
/** Accepts digits only. Other texts that JavaScript reads as a number (1e3, 0x10, a blank) are mistakes here. */
const wholeNumber = (maximum: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, must(`a whole number from 0 to ${maximum}`))
    .transform(Number)
    .refine((value) => value <= maximum, must(`a whole number from 0 to ${maximum}`));
export const count = z
  .string()
  .regex(/^\d{1,9}$/, must("a whole number from 0 up"))
  .transform(Number);
export const port = wholeNumber(65_535);
export const webAddress = z.url({
  protocol: /^https?$/,
  ...must("an address such as https://mail.example.com"),
});
export const words = <const Word extends string>(known: readonly Word[]) =>
  list.pipe(
    z
      .array(z.enum(known, must(`words out of ${known.join(", ")}`)))
      .min(1, must(`words out of ${known.join(", ")}`)),
  );
export const key = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9_-]{1,200}$`), `must begin with ${prefix}_`);
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);
export const mailbox = z.string().transform((text, context) => {
  const parsed = parseMailbox(text);
  if (parsed.ok) return { address: parsed.address, ...(parsed.name ? { name: parsed.name } : {}) };
  context.addIssue({ code: "custom", message: "must be an address, or `Name <address>`" });
  return z.NEVER;
});
export const addresses = list.pipe(
  z.array(
    z.string().transform((text, context) => {
      const parsed = parseAddress(text);
      if (parsed.ok) return parsed.address;
      context.addIssue({ code: "custom", message: "must be addresses, separated by commas" });
      return z.NEVER;
    }),
  ),
);
export const domain = z
  .string()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/,
    "must be a domain such as in.example.com",
  )
  .optional();
export const smtpName = z
  .string()
  .regex(
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[a-z0-9:.]{1,64}\])$/i,
    "must be a host name such as mail.example.com, or an address in brackets",
  )
  .max(255, "must be at most 255 characters");
export const proxy = z
  .string()
  .refine(
    isProxy,
    "must be addresses or ranges such as 10.0.0.0/8, or the words loopback, linklocal, uniquelocal",
  );
export const namedFailpoint = z.string().transform((text, context) => {
  const parsed = parseFailpoint(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: "custom", message: "must be name:action[:turn] with a known name and action" });
  return z.NEVER;
});
export const topicArn = z
  .string()
  .regex(
    /^arn:aws(-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$/,
    "must be the ARN of an SNS topic such as arn:aws:sns:eu-west-1:123456789012:mail",
  );

export const network = z
  .string()
  .refine(isNetwork, "must be addresses or ranges such as 10.0.0.0/8 or fd00::/8");

/** Parses `9000-9099` or a single port to the first and the last port. */
export const portRange = z.string().transform((text, context): readonly [number, number] => {
  const [, first = "", last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const range = [Number(first), Number(last)] as const;
  if (first === "" || range[0] < 1 || range[1] < range[0] || range[1] > 65_535)
    context.addIssue({
      code: "custom",
      message: "must be ports from 1 to 65535, or ranges such as 9000-9099",
    });
  return range;
});

function isProxy(text: string): boolean {
  return ["loopback", "linklocal", "uniquelocal"].includes(text) || isNetwork(text);
}

function isNetwork(text: string): boolean {
  const [, address = "", bits = "1"] = /^([^/]*)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  return Number(bits) <= ({ 4: 32, 6: 128 }[isIP(address)] ?? 0);
}

const MIN_TOKEN_LENGTH = 16;
/** Defines who may see a page of the installation. */
export const access = z.string().transform((text, context): Access => {
  if (text === "anyone" || text === "loopback") return text;
  const token = /^token:(\S+)$/.exec(text)?.[1] ?? "";
  if (token.length >= MIN_TOKEN_LENGTH) return { token };
  context.addIssue({
    code: "custom",
    message: `must be anyone, loopback, or token: and at least ${MIN_TOKEN_LENGTH} characters without a space`,
  });
  return z.NEVER;
});
