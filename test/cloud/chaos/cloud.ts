import type { Chaos } from './recovery.ts';
import { bearWitness, facts } from './witness.ts';

let made: Promise<Chaos> | undefined;

/** What all files of the suite compare with, made once. */
export function chaos(): Promise<Chaos> {
  made ??= (async () => {
    const witness = await bearWitness();
    return { witness, before: await facts(witness) };
  })();
  return made;
}
