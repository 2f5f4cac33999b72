const units: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes of a Kubernetes quantity such as `512Mi`, `1.5G` or `1000000`; undefined when it has another form. */
export function bytesOf(quantity: string | number): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kMGT]|[KMGT]i)?$/.exec(String(quantity)) ?? [];
  const factor = units[unit];
  return number === undefined || factor === undefined ? undefined : Math.floor(Number(number) * factor);
}
