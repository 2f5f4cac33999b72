import { Buffer } from 'node:buffer';
import { Environment, Optional } from '@marcbachmann/cel-js';
import { isBase64, isDateTime, matchesFormat } from './formats.ts';
import { goRegExp } from './go-regexp.ts';
import { formatIp, parseCidr, parseIp, samePrefix } from './ip.ts';
import { isDns1035Label, isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName, nameCheck } from './names.ts';
import { formatQuantity, parseQuantity, type Quantity, QuantityError } from './quantity.ts';

/** A failed function call: its message is what cel-go says. */
class CelFunctionError extends Error {
  override readonly name = 'CelFunctionError';
}

class QuantityValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}
class IpValue {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}
class CidrValue {
  readonly ip: Uint8Array;
  readonly prefix: number;
  constructor(ip: Uint8Array, prefix: number) {
    this.ip = ip;
    this.prefix = prefix;
  }
}
class UrlValue {
  readonly url: URL;
  readonly absolute: boolean;
  constructor(url: URL, absolute: boolean) {
    this.url = url;
    this.absolute = absolute;
  }
}
class NamedFormat {
  readonly check: (text: string) => string[];
  constructor(check: (text: string) => string[]) {
    this.check = check;
  }
}
/** What stands before the dot in `sets.contains(...)` and the like: one class each, since CEL tells types by class. */
class SetsNamespace {
  readonly name = 'sets';
}
class FormatNamespace {
  readonly name = 'format';
}
class IpNamespace {
  readonly name = 'ip';
}

type List = readonly unknown[];

/**
 * The functions that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library and cel-go's string and set extensions):
 * quantities, addresses, URLs, formats, lists, regular expressions, sets.
 */
export function celLibrary(): Environment {
  const environment = new Environment({ enableOptionalTypes: true });
  addStrings(environment);
  addLists(environment);
  addSets(environment);
  addQuantities(environment);
  addAddresses(environment);
  addUrls(environment);
  addFormats(environment);
  return environment;
}

function addStrings(environment: Environment): void {
  const find = (text: string, pattern: string) => goRegExp(pattern).exec(text)?.[0] ?? '';
  const findAll = (text: string, pattern: string, limit = -1n) => {
    const expression = goRegExp(pattern);
    const found = [...text.matchAll(new RegExp(expression.source, `${expression.flags}g`))].map(([match]) => match);
    return limit < 0n ? found : found.slice(0, Number(limit));
  };
  environment
    .registerFunction('string.find(string): string', find)
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern))
    .registerFunction('string.findAll(string, int): list<string>', findAll)
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => {
      if (at < 0n || at > BigInt(text.length)) throw new CelFunctionError(`index out of range: ${at}`);
      return text.charAt(Number(at));
    })
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.format(list): string', format);
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  let result = '';
  let rest = text;
  for (let left = limit; left > 0n; left--) {
    const at = rest.indexOf(from);
    if (at < 0) break;
    result += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return result + rest;
}

/** `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X`, `%o`, with a precision where it makes sense. */
function format(template: string, values: List): string {
  let next = 0;
  return template.replace(/%(?:\.(\d+))?([sdfebxXo%])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    const value = values[next++];
    if (value === undefined) throw new CelFunctionError(`index ${next - 1} out of range`);
    const digits = precision === undefined ? 6 : Number(precision);
    if (verb === 'f') return Number(value).toFixed(digits);
    if (verb === 'e')
      return Number(value)
        .toExponential(digits)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    if (verb === 's') return textOf(value);
    const bases: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };
    if (typeof value === 'string') return Buffer.from(value).toString('hex');
    const text = (value as bigint).toString(bases[verb]);
    return verb === 'X' ? text.toUpperCase() : text;
  });
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([name, entry]) => `${textOf(name)}: ${textOf(entry)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return String(value);
}

function compare(a: unknown, b: unknown): number {
  const [x, y] = [a, b].map((value) => (value instanceof QuantityValue ? value.quantity.nanos : value)) as [
    number,
    number,
  ];
  return x < y ? -1 : x > y ? 1 : 0;
}

function addLists(environment: Environment): void {
  const best = (list: List, sign: number) => {
    if (list.length === 0) throw new CelFunctionError(`${sign < 0 ? 'min' : 'max'} called on empty list`);
    return list.reduce((a, b) => (Math.sign(compare(b, a)) === sign ? b : a));
  };
  environment
    .registerFunction('list<T>.isSorted(): bool', (list: List) =>
      list.every((item, position) => position === 0 || compare(list[position - 1], item) <= 0),
    )
    .registerFunction('list<T>.min(): T', (list: List) => best(list, -1))
    .registerFunction('list<T>.max(): T', (list: List) => best(list, 1))
    .registerFunction('list<int>.sum(): int', (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n))
    .registerFunction('list<double>.sum(): double', (list: readonly number[]) => list.reduce((a, b) => a + b, 0))
    .registerFunction('list<T>.indexOf(T): int', (list: List, item: unknown) => BigInt(list.indexOf(item)))
    .registerFunction('list<T>.lastIndexOf(T): int', (list: List, item: unknown) => BigInt(list.lastIndexOf(item)));
}

function addSets(environment: Environment): void {
  const containsAll = (all: List, some: List) => some.every((item) => all.some((other) => compareEqual(item, other)));
  environment
    .registerType('SetsNamespace', SetsNamespace)
    .registerConstant('sets', 'SetsNamespace', new SetsNamespace())
    .registerFunction('SetsNamespace.contains(list<T>, list<T>): bool', (_: unknown, a: List, b: List) =>
      containsAll(a, b),
    )
    .registerFunction(
      'SetsNamespace.equivalent(list<T>, list<T>): bool',
      (_: unknown, a: List, b: List) => containsAll(a, b) && containsAll(b, a),
    )
    .registerFunction('SetsNamespace.intersects(list<T>, list<T>): bool', (_: unknown, a: List, b: List) =>
      a.some((item) => b.some((other) => compareEqual(item, other))),
    );
}

function compareEqual(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === typeof b && textOf(a) === textOf(b) && typeof a !== 'object');
}

function toQuantity(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) throw new CelFunctionError(error.message);
    throw error;
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

function addQuantities(environment: Environment): void {
  const NANO = 1_000_000_000n;
  const nanosOf = (value: QuantityValue | bigint) => (typeof value === 'bigint' ? value * NANO : value.quantity.nanos);
  const sum = (a: QuantityValue, b: bigint) => new QuantityValue({ ...a.quantity, nanos: a.quantity.nanos + b });
  environment
    .registerType('Quantity', QuantityValue)
    .registerFunction('quantity(string): Quantity', toQuantity)
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction('sign(Quantity): int', ({ quantity }: QuantityValue) =>
      quantity.nanos > 0n ? 1n : quantity.nanos < 0n ? -1n : 0n,
    )
    .registerFunction('Quantity.isInteger(): bool', ({ quantity }: QuantityValue) => quantity.nanos % NANO === 0n)
    .registerFunction('Quantity.asInteger(): int', ({ quantity }: QuantityValue) => {
      if (quantity.nanos % NANO !== 0n) throw new CelFunctionError('cannot convert value to integer');
      return quantity.nanos / NANO;
    })
    .registerFunction(
      'Quantity.asApproximateFloat(): double',
      ({ quantity }: QuantityValue) => Number(quantity.nanos) / 1e9,
    )
    .registerFunction(
      'Quantity.isGreaterThan(Quantity): bool',
      (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0,
    )
    .registerFunction('Quantity.isLessThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0)
    .registerFunction('Quantity.compareTo(Quantity): int', (a: QuantityValue, b: QuantityValue) =>
      BigInt(compare(a, b)),
    )
    .registerOperator('Quantity == Quantity', (a: QuantityValue, b: QuantityValue) => compare(a, b) === 0);
  for (const other of ['Quantity', 'int']) {
    environment
      .registerFunction(`Quantity.add(${other}): Quantity`, (a: QuantityValue, b: QuantityValue | bigint) =>
        sum(a, nanosOf(b)),
      )
      .registerFunction(`Quantity.sub(${other}): Quantity`, (a: QuantityValue, b: QuantityValue | bigint) =>
        sum(a, -nanosOf(b)),
      );
  }
  environment.registerFunction('string(Quantity): string', ({ quantity }: QuantityValue) => formatQuantity(quantity));
}

function toIp(text: string): IpValue {
  const bytes = parseIp(text);
  if (!bytes)
    throw new CelFunctionError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  return new IpValue(bytes);
}

function toCidr(text: string): CidrValue {
  const cidr = parseCidr(text);
  if (!cidr) throw new CelFunctionError('network address parse error during conversion from string');
  return new CidrValue(cidr.ip, cidr.prefix);
}

function addAddresses(environment: Environment): void {
  const inside = (cidr: CidrValue, ip: Uint8Array) => samePrefix(cidr.ip, ip, cidr.prefix);
  const covers = (a: CidrValue, b: CidrValue) => inside(a, b.ip) && a.prefix <= b.prefix;
  const within = (ip: IpValue, ...cidrs: string[]) => cidrs.some((cidr) => inside(toCidr(cidr), ip.bytes));
  const unspecified = ({ bytes }: IpValue) => bytes.every((byte) => byte === 0);
  const special = (ip: IpValue) =>
    within(
      ip,
      '127.0.0.0/8',
      '::1/128',
      '224.0.0.0/4',
      'ff00::/8',
      '169.254.0.0/16',
      'fe80::/10',
      '255.255.255.255/32',
    );
  environment
    .registerType('IP', IpValue)
    .registerType('CIDR', CidrValue)
    .registerType('IpNamespace', IpNamespace)
    .registerConstant('ip', 'IpNamespace', new IpNamespace())
    .registerFunction('ip(string): IP', toIp)
    .registerFunction('ip(CIDR): IP', ({ ip }: CidrValue) => new IpValue(ip))
    .registerFunction('isIP(string): bool', (text: string) => parseIp(text) !== undefined)
    .registerFunction(
      'IpNamespace.isCanonical(string): bool',
      (_: unknown, text: string) => formatIp(toIp(text).bytes) === text,
    )
    .registerFunction('IP.family(): int', ({ bytes }: IpValue) => (bytes.length === 4 ? 4n : 6n))
    .registerFunction('IP.isUnspecified(): bool', unspecified)
    .registerFunction('IP.isLoopback(): bool', (ip: IpValue) => within(ip, '127.0.0.0/8', '::1/128'))
    .registerFunction('IP.isLinkLocalMulticast(): bool', (ip: IpValue) => within(ip, '224.0.0.0/24', 'ff02::/16'))
    .registerFunction('IP.isLinkLocalUnicast(): bool', (ip: IpValue) => within(ip, '169.254.0.0/16', 'fe80::/10'))
    .registerFunction('IP.isGlobalUnicast(): bool', (ip: IpValue) => !unspecified(ip) && !special(ip))
    .registerFunction('string(IP): string', ({ bytes }: IpValue) => formatIp(bytes))
    .registerOperator('IP == IP', (a: IpValue, b: IpValue) => formatIp(a.bytes) === formatIp(b.bytes))
    .registerFunction('cidr(string): CIDR', toCidr)
    .registerFunction('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined)
    .registerFunction('CIDR.ip(): IP', ({ ip }: CidrValue) => new IpValue(ip))
    .registerFunction('CIDR.prefixLength(): int', ({ prefix }: CidrValue) => BigInt(prefix))
    .registerFunction('CIDR.masked(): CIDR', ({ ip, prefix }: CidrValue) => new CidrValue(mask(ip, prefix), prefix))
    .registerFunction('CIDR.containsIP(IP): bool', (cidr: CidrValue, ip: IpValue) => inside(cidr, ip.bytes))
    .registerFunction('CIDR.containsIP(string): bool', (cidr: CidrValue, ip: string) => inside(cidr, toIp(ip).bytes))
    .registerFunction('CIDR.containsCIDR(CIDR): bool', covers)
    .registerFunction('CIDR.containsCIDR(string): bool', (cidr: CidrValue, other: string) =>
      covers(cidr, toCidr(other)),
    )
    .registerFunction('string(CIDR): string', ({ ip, prefix }: CidrValue) => `${formatIp(ip)}/${prefix}`)
    .registerOperator('CIDR == CIDR', (a: CidrValue, b: CidrValue) => a.prefix === b.prefix && covers(a, b));
}

function mask(ip: Uint8Array, prefix: number): Uint8Array {
  return ip.map((byte, position) => byte & (0xff << Math.max(0, 8 - Math.max(0, prefix - position * 8))));
}

function parseUrl(text: string): UrlValue | undefined {
  if (text.startsWith('/'))
    return URL.canParse(text, 'relative://') ? new UrlValue(new URL(text, 'relative://'), false) : undefined;
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) && URL.canParse(text) ? new UrlValue(new URL(text), true) : undefined;
}

function addUrls(environment: Environment): void {
  environment
    .registerType('URL', UrlValue)
    .registerFunction('url(string): URL', (text: string) => {
      const url = parseUrl(text);
      if (!url)
        throw new CelFunctionError(
          `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
        );
      return url;
    })
    .registerFunction('isURL(string): bool', (text: string) => parseUrl(text) !== undefined)
    .registerFunction('URL.getScheme(): string', ({ url, absolute }: UrlValue) =>
      absolute ? url.protocol.slice(0, -1) : '',
    )
    .registerFunction('URL.getHost(): string', ({ url, absolute }: UrlValue) => (absolute ? url.host : ''))
    .registerFunction('URL.getHostname(): string', ({ url, absolute }: UrlValue) =>
      absolute ? url.hostname.replace(/^\[|\]$/g, '') : '',
    )
    .registerFunction('URL.getPort(): string', ({ url }: UrlValue) => url.port)
    .registerFunction('URL.getEscapedPath(): string', ({ url }: UrlValue) => url.pathname)
    .registerFunction('URL.getQuery(): map<string, list<string>>', ({ url }: UrlValue) => {
      const query = new Map<string, string[]>();
      for (const [name, value] of url.searchParams) query.set(name, [...(query.get(name) ?? []), value]);
      return query;
    });
}

const one = (valid: boolean, message: string) => (valid ? [] : [message]);
const prefixed = (check: (name: string) => string[]) => (text: string) => nameCheck(check)(text, true);

/** Formats of `format.dns1123Label()` and `format.named('dns1123Label')`. */
const namedFormats: Readonly<Record<string, (text: string) => string[]>> = {
  dns1123Label: isDnsLabel,
  dns1123Subdomain: isDnsSubdomain,
  dns1035Label: isDns1035Label,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: prefixed(isDnsLabel),
  dns1123SubdomainPrefix: prefixed(isDnsSubdomain),
  dns1035LabelPrefix: prefixed(isDns1035Label),
  labelValue: isLabelValue,
  uri: (text) => one(matchesFormat('uri', text), 'invalid URI'),
  uuid: (text) => one(matchesFormat('uuid', text), 'does not match the UUID format'),
  byte: (text) => one(isBase64(text), 'invalid base64'),
  date: (text) => one(matchesFormat('date', text), 'invalid date'),
  datetime: (text) => one(isDateTime(text), 'invalid datetime'),
};

function addFormats(environment: Environment): void {
  environment
    .registerType('NamedFormat', NamedFormat)
    .registerType('FormatNamespace', FormatNamespace)
    .registerConstant('format', 'FormatNamespace', new FormatNamespace())
    .registerFunction('FormatNamespace.named(string): optional<NamedFormat>', (_: unknown, name: string) => {
      const check = namedFormats[name];
      return check ? Optional.of(new NamedFormat(check)) : Optional.none();
    })
    .registerFunction(
      'NamedFormat.validate(string): optional<list<string>>',
      ({ check }: NamedFormat, text: string) => {
        const errors = check(text);
        return errors.length > 0 ? Optional.of(errors) : Optional.none();
      },
    );
  for (const [name, check] of Object.entries(namedFormats)) {
    environment.registerFunction(`FormatNamespace.${name}(): NamedFormat`, () => new NamedFormat(check));
  }
}
