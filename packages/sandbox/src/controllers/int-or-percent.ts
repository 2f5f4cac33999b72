/** A number, or a share such as `25%` of `total`, rounded up or down. */
export function resolveIntOrPercent(
  value: string | number | undefined,
  total: number,
  rounding: 'up' | 'down',
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
}
