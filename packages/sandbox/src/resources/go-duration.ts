const unitNanoseconds: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Nanoseconds of a Go duration such as `1h30m` or `-1.5s` (time.ParseDuration); undefined when the text is none. */
export function parseGoDuration(text: string): number | undefined {
  const match = /^([-+]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (!match?.[2]) return undefined;
  let total = 0;
  for (const [, amount, unit] of match[2].matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitNanoseconds[unit ?? ''] ?? 0);
  }
  return match[1] === '-' ? -total : total;
}
