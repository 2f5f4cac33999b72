import { types } from 'node:util';
import { living } from './living.ts';

type Collection = Map<unknown, unknown> | Set<unknown>;

/** A Map or Set that has more entries than it had. */
export interface Growth {
  readonly by: number;
  readonly what: string;
}

/** How many entries every Map and Set of this thread has, at one moment. */
export class Collections {
  readonly #sizes = new WeakMap<Collection, number>();
  readonly entries: number;

  private constructor(all: readonly Collection[]) {
    for (const one of all) this.#sizes.set(one, one.size);
    this.entries = all.reduce((sum, { size }) => sum + size, 0);
  }

  static async now(): Promise<Collections> {
    return new Collections(await all());
  }

  /** What has more entries now than it had then, the largest growth first, and some of its keys. */
  async grown(): Promise<Growth[]> {
    return (await all())
      .map((one) => ({ one, by: one.size - (this.#sizes.get(one) ?? 0) }))
      .filter(({ by }) => by > 0)
      .sort((a, b) => b.by - a.by)
      .map(({ one, by }) => {
        const what = `${this.#sizes.has(one) ? 'more in' : 'in a new'} ${one instanceof Map ? 'Map' : 'Set'}`;
        return { by, what: `${by} ${what}: ${[...one.keys()].slice(-3).map(named).join(', ')}` };
      });
  }
}

async function all(): Promise<Collection[]> {
  // Prototypes of subclasses inherit from them as well, and have no size.
  return [...(await living(Map)).filter(types.isMap), ...(await living(Set)).filter(types.isSet)];
}

function named(key: unknown): string {
  if (typeof key !== 'object' || key === null) return String(key).slice(0, 120);
  return `${key.constructor?.name ?? 'object'} {${Object.keys(key).slice(0, 5).join(', ')}}`;
}
