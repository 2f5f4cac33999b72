import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import type { Clock } from '@openstack-operator/kube';

/** Milliseconds between two scripts: what V8 remembers of the one before is gone after some 110 s. */
const BETWEEN_SCRIPTS = 60_000;

/**
 * Has V8 collect garbage when the heap has grown by a quarter, not by as much as the machine allows: an operator is
 * meant to be small more than quick. The image's first line (images/operator/layer) has the other half of it, small
 * young generations, which cannot be set any more while a program runs.
 *
 * And has it give memory back once nothing happens. V8 13 does that where little is allocated, and takes a program that
 * allocates nothing at all for C++ for one that allocates a lot (Heap::HasLowEmbedderAllocationRate): a script is little.
 */
export function keepHeapSmall(clock: Clock): void {
  setFlagsFromString('--heap-growing-percent=25');
  const again = () => {
    void new Script('');
    clock.after(BETWEEN_SCRIPTS, again, { ref: false });
  };
  again();
}
