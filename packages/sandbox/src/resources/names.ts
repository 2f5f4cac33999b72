// Every function gives complaints in the words of k8s.io/apimachinery (pkg/api/validate/content, pkg/util/validation);
// no complaint means valid.

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const qualifiedMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** Checks a name; `prefix` is true for a `generateName`, which may end in a dash. */
export type NameCheck = (name: string, prefix?: boolean) => string[];

function whole(expression: string): RegExp {
  return new RegExp(`^(?:${expression})$`);
}

const subdomainExpression = whole(subdomain1123);
const labelExpression = whole(label1123);
const label1035Expression = whole(label1035);
const qualifiedExpression = whole(qualified);
const labelValueExpression = whole(`(${qualified})?`);

/** `<what> (e.g. 'a', or 'b', regex used for validation is '...')`. */
export function regexError(message: string, expression: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${expression}')`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${expression}')`;
}

/** The complaint about a name of more than `length` characters. */
export function maxLengthError(length: number): string {
  return `must be no more than ${length} characters`;
}

/** The same where the newer of the two validation packages of Kubernetes speaks. */
function maxBytesError(length: number): string {
  return `must be no more than ${length} bytes`;
}

/** RFC 1123 label: at most 63 of [-a-z0-9]. */
export function isDnsLabel(value: string): string[] {
  const errors = value.length > 63 ? [maxLengthError(63)] : [];
  if (labelExpression.test(value)) return errors;
  if (subdomainExpression.test(value)) return [...errors, 'must not contain dots'];
  const message =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...errors, regexError(message, label1123, 'my-name', '123-abc')];
}

/** RFC 1123 subdomain: labels joined by dots, at most 253 bytes. */
export function isDnsSubdomain(value: string): string[] {
  const errors = value.length > 253 ? [maxLengthError(253)] : [];
  if (subdomainExpression.test(value)) return errors;
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...errors, regexError(message, subdomain1123, 'example.com')];
}

/** RFC 1035 label: as RFC 1123, but begins with a letter. */
export function isDns1035Label(value: string): string[] {
  const errors = value.length > 63 ? [maxLengthError(63)] : [];
  if (label1035Expression.test(value)) return errors;
  const message =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...errors, regexError(message, label1035, 'my-name', 'abc-123')];
}

/** A key of labels and the like: `[prefix/]name`. */
export function isQualifiedName(value: string): string[] {
  const parts = value.split('/');
  const name = parts.at(-1) ?? '';
  const hint = regexError(qualifiedMessage, qualified, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2) {
    return [`a valid label key ${hint} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') errors.push('prefix part must be non-empty');
    else errors.push(...isDnsSubdomain(prefix).map((message) => `prefix part ${message}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${maxBytesError(63)}`);
  if (!qualifiedExpression.test(name)) errors.push(`name part ${hint}`);
  return errors;
}

/** The value of a label: at most 63 bytes, may be empty. */
export function isLabelValue(value: string): string[] {
  const errors = value.length > 63 ? [maxBytesError(63)] : [];
  if (labelValueExpression.test(value)) return errors;
  const message =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...errors, regexError(message, `(${qualified})?`, 'MyValue', 'my_value', '12345')];
}

/** The name of a container's or Service's port: at most 15 of [-a-z0-9] with a letter (RFC 6335). */
export function isPortName(port: string): string[] {
  const errors = port.length > 15 ? [maxLengthError(15)] : [];
  if (!/^[-a-z0-9]+$/.test(port)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(port)) errors.push('must contain at least one letter (a-z)');
  if (port.includes('--')) errors.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

/** A port number: 1-65535. */
export function isPortNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** The name of an environment variable: printable ASCII without '=' (relaxed since Kubernetes 1.34). */
export function isEnvName(name: string): string[] {
  if (name === '') return ['environment variable name must be non-empty'];
  if (!/^[\x20-\x3c\x3e-\x7e]+$/.test(name)) {
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
  }
  return name === '.' || name === '..' ? [`must not be '${name}'`] : [];
}

/** A key of a ConfigMap or Secret: a file name of [-._a-zA-Z0-9]. */
export function isConfigKey(value: string): string[] {
  const errors = value.length > 253 ? [maxLengthError(253)] : [];
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    const message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    errors.push(regexError(message, '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME', 'key-name'));
  }
  if (value === '.') errors.push("must not be '.'");
  else if (value === '..') errors.push("must not be '..'");
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

/** A name that stands in a URL as it is (RBAC): no '/', no '%'. */
export function isPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A check that accepts what a generated name may begin with. */
export function nameCheck(check: (name: string) => string[]): NameCheck {
  return (name, prefix = false) =>
    check(prefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);
}

/** Names of most kinds. */
export const subdomainName = nameCheck(isDnsSubdomain);
/** Names of Namespaces, and of Services since Kubernetes 1.36. */
export const labelName = nameCheck(isDnsLabel);
