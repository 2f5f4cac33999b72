import type { Scalar } from 'yaml';

/** What a key or a value without quotes may be. */
type Plain = string | number | boolean | null;

const words: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['', '+', '-'].flatMap((sign) =>
    ['.inf', '.Inf', '.INF'].map((word) => [`${sign}${word}`, Number(`${sign}Infinity`)] as const),
  ),
]);

const integer = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const core = 'tag:yaml.org,2002:';
const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  bool: (value) => typeof value === 'boolean',
  float: (value) => typeof value === 'number',
  int: (value) => typeof value === 'number' && Number.isInteger(value),
  null: (value) => value === null,
};

/**
 * What kubectl makes of a scalar. It reads YAML by sigs.k8s.io/yaml, which is go-yaml v2: YAML 1.1 with `yes` and `off` as
 * booleans, `010` as eight and `1_000` as a thousand, but with times and base 60 (`1:20`) as strings; `!!binary` is the
 * string that it decodes to, and tags that it does not know are passed over. Tried with kubectl 1.32 (`kubectl label
 * --local`), which go-yaml's resolve.go explains.
 * @throws Error for what it refuses: what is not what its tag says, base64 that is none, and numbers that JSON lacks
 */
export function goYamlScalar({ value, type, tag }: Scalar): Plain {
  const text = String(value);
  const short = tag?.startsWith(core) === true ? tag.slice(core.length) : undefined;
  if (short === 'binary') return decoded(text);
  const isPlain = type === undefined || type === 'PLAIN';
  if (short === 'str' || (tag !== undefined && short === undefined) || (tag === undefined && !isPlain)) return text;
  const resolved = plain(text);
  const isOfType = short === undefined ? undefined : types[short];
  if (isOfType?.(resolved) === false)
    throw new Error(
      `${JSON.stringify(text)} is not what its tag !!${short} says: remove the tag, or write such a value`,
    );
  if (typeof resolved === 'number' && !Number.isFinite(resolved))
    throw new Error(
      `${text} is a number that JSON, and so Kubernetes, does not have: write it in quotes if it is a text`,
    );
  return resolved;
}

function plain(text: string): Plain {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const bare = text.replaceAll('_', '');
  const [, sign, digits = ''] = integer.exec(bare) ?? [];
  if (sign !== undefined) {
    const amount = Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
    return sign === '-' && amount !== 0 ? -amount : amount;
  }
  const amount = float.test(text.startsWith('.') ? text : bare) ? Number(bare) : Number.NaN;
  return Number.isFinite(amount) ? amount : text;
}

function decoded(text: string): string {
  const bare = text.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(bare)) {
    throw new Error(
      `!!binary is followed by ${JSON.stringify(text.slice(0, 40))}, which is not base64: remove !!binary, or encode it`,
    );
  }
  return Buffer.from(bare, 'base64').toString('utf8');
}
