import { isIPv6 } from 'node:net';
import { parseGoDuration } from './go-duration.ts';
import { parseCidr, parseIp } from './ip.ts';
import { isDnsLabel, isDnsSubdomain } from './names.ts';
import type { Schema } from './schema.ts';

const uuid = (version: string, variant: string) =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i');
const hexadecimal4 = '[0-9a-f]{4}';
const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;

/** Formats of texts that the API server checks in custom resources (apiextensions' formats.go), without dashes. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  uri: isRequestUri,
  email: (text) => /^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/.test(text),
  hostname: (text) => hostname.test(text) && text.length <= 255 && text.split('.').every((part) => part.length <= 63),
  ipv4: (text) => parseIp(text) !== undefined && text.includes('.'),
  ipv6: (text) => isIPv6(text),
  cidr: (text) => parseCidr(text) !== undefined,
  mac: (text) => /^([0-9a-f]{2}([:-][0-9a-f]{2}){5}|([0-9a-f]{4}\.){2}[0-9a-f]{4})$/i.test(text),
  uuid: (text) => uuid(hexadecimal4, hexadecimal4).test(text),
  uuid3: (text) => uuid('3[0-9a-f]{3}', hexadecimal4).test(text),
  uuid4: (text) => uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}').test(text),
  uuid5: (text) => uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}').test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  byte: isBase64,
  password: () => true,
  date: (text) => isDate(text),
  datetime: isDateTime,
  duration: isDuration,
  'k8s-short-name': (text) => isDnsLabel(text).length === 0,
  'k8s-long-name': (text) => isDnsSubdomain(text).length === 0,
};

/** Names that CRDs may use although this project checks nothing for them: they name no thing an operator has. */
const unchecked = new Set(['bsonobjectid', 'isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn', 'rgbcolor']);

/**
 * The format that counts for a schema's type, or '' for one that the API server ignores there (StripUnsupportedFormats).
 */
export function effectiveFormat(schema: Schema): string {
  const { format = '' } = schema;
  if (format === '') return '';
  if (schema.type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (schema.type === 'number') return format === 'float' || format === 'double' ? format : '';
  if (schema.type !== undefined && schema.type !== 'string') return '';
  const name = normalized(format);
  return name in checks || unchecked.has(name) ? format : '';
}

/** Whether a text is of the format; formats that are not checked accept all. */
export function matchesFormat(format: string, text: string): boolean {
  return checks[normalized(format)]?.(text) ?? true;
}

function normalized(format: string): string {
  return format.startsWith('k8s-') ? format : format.replaceAll('-', '');
}

function isRequestUri(text: string): boolean {
  return text.startsWith('/') ? !/[\s\x7f]/.test(text) : URL.canParse(text) && /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text);
}

/** Standard base64 with padding, not empty (govalidator.IsBase64). */
export function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

/** RFC 3339 with a zone, as apiextensions checks it: upper or lower case, seconds up to 59. */
export function isDateTime(text: string): boolean {
  const [date = '', time, ...rest] = text.toLowerCase().split('t');
  if (time === undefined || rest.length > 0 || !isDate(date)) return false;
  const match = /^(\d{2}):(\d{2}):(\d{2})(\.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(time);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

/** Go's durations, and the looser `22 seconds`, `3 weeks` of go-openapi's strfmt. */
function isDuration(text: string): boolean {
  if (parseGoDuration(text) !== undefined) return true;
  for (const [, unit = ''] of text.matchAll(/\d+\s*([A-Za-zµ]+)/g)) {
    const name = unit.toLowerCase();
    if (/^(ns|us|µs|ms|s|m|h|hr|d|w|wk|min|sec)$/.test(name)) return true;
    if (/^(nano|micro|milli|sec|min|hour|day|week)/.test(name)) return true;
  }
  return false;
}
