import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect garbage when the heap has grown by a quarter, not by as much as the machine allows: an operator is
 * meant to be small more than quick. The image's first line (images/operator/layer) has the other half of it, small
 * young generations, which cannot be set any more while a program runs.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=25');
}
