import { parseQuantity } from '../resources/quantity.ts';

/** The number that a `resource.Quantity` stands for: `1500m` is 1.5, `1Ki` is 1024. NaN when there is none. */
export function quantityNumber(quantity: string | number | undefined): number {
  if (quantity === undefined) return Number.NaN;
  return typeof quantity === 'number' ? quantity : Number(parseQuantity(quantity).nanos) / 1e9;
}
