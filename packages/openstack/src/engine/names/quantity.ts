const units: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that a Kubernetes quantity such as `500m`, `2`, `1e3` or `1.5Gi` stands for; undefined when it is none. */
export function amountOf(quantity: unknown): number | undefined {
  const [, number, unit = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/u.exec(String(quantity)) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** Whole bytes of a quantity such as `512Mi`, `1.5G` or `1000000`; undefined when it is none. */
export function bytesOf(quantity: string | number): number | undefined {
  const amount = amountOf(quantity);
  return amount === undefined ? undefined : Math.floor(amount);
}
