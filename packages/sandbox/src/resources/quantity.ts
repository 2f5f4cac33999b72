const NANO = 1_000_000_000n;
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalNames = new Map(Object.entries(decimalSuffixes).map(([name, exponent]) => [exponent, name]));
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** An amount as `resource.Quantity` holds it: in billionths, and the family of suffixes that it was written with. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: 'decimal' | 'binary' | 'exponent';
}

/** A text that is no quantity; `message` is the API server's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
  readonly code = 'QUANTITY';
}

/**
 * Reads a quantity such as `100m`, `1.5Gi` or `1e3` (resource.ParseQuantity); finer than a billionth is rounded up.
 * @throws QuantityError
 */
export function parseQuantity(text: string): Quantity {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!match || (whole === '' && fraction === '')) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const digits = BigInt(`${whole}${fraction}`);
  const binary = binarySuffixes.indexOf(suffix);
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix);
  const power = exponent ? Number(exponent[1]) : decimalSuffixes[suffix];
  if (binary < 0 && power === undefined) throw new QuantityError("unable to parse quantity's suffix");
  const scale = 9 - fraction.length + (power ?? 0);
  const factor = binary < 0 ? 1n : 1024n ** BigInt(binary + 1);
  const amount = digits * factor;
  const nanos = scale >= 0 ? amount * 10n ** BigInt(scale) : divideUp(amount, 10n ** BigInt(-scale));
  return {
    nanos: sign === '-' ? -nanos : nanos,
    format: binary >= 0 ? 'binary' : exponent ? 'exponent' : 'decimal',
  };
}

/** The canonical text (Quantity.String): `1000m` is `1`, `0.5` is `500m`, `1024Mi` is `1Gi`. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const size = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  if (format === 'binary' && size >= 1024n * NANO) {
    let amount = divideUp(size, NANO);
    let step = 0;
    while (step < binarySuffixes.length && amount % 1024n === 0n) {
      amount /= 1024n;
      step++;
    }
    return `${sign}${amount}${binarySuffixes[step - 1] ?? ''}`;
  }
  let amount = size;
  let exponent = -9;
  while (exponent < 18 && amount % 1000n === 0n) {
    amount /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return `${sign}${amount}${exponent === 0 ? '' : `e${exponent}`}`;
  return `${sign}${amount}${decimalNames.get(exponent) ?? ''}`;
}

/** A quantity in its canonical text. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/** Below 0, 0 or above 0 as `a` is less than, equal to or more than `b`. @throws QuantityError */
export function compareQuantities(a: string, b: string): number {
  const difference = parseQuantity(a).nanos - parseQuantity(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The amount rounded up to a whole number (Quantity.Value). @throws QuantityError */
export function quantityValue(text: string): number {
  const { nanos } = parseQuantity(text);
  return Number(nanos < 0n ? -(-nanos / NANO) : divideUp(nanos, NANO));
}

function divideUp(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

/** The number that a `resource.Quantity` stands for: `1500m` is 1.5, `1Ki` is 1024. NaN when there is none. */
export function quantityNumber(quantity: string | number | undefined): number {
  if (quantity === undefined) return Number.NaN;
  return typeof quantity === 'number' ? quantity : Number(parseQuantity(quantity).nanos) / 1e9;
}
